"""Folders that stand for CUDA's, with a fatbinary that has other arguments than clang's link gives.

clang's linker wrapper puts the images of the device together with the fatbinary of the CUDA that it
is told of. It has no option for PTX, nor for compression; and before 22 it spells images in a way
that CUDA 13's refuses. So it is told of a folder with a fatbinary that runs the other.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from .errors import InputError
from .target import Target
from .toolchain import Cuda


def with_own_fatbinary(
    cuda: Cuda, ptx: Mapping[Target, Path], folder: Path | None, *, compress: bool
) -> Path:
    """Returns the folder to be named as CUDA's, in `folder`. Without one it is
    named, and not made.
    """
    if folder is None:
        return Path("cuda")
    root = folder / "cuda"
    (root / "bin").mkdir(parents=True, exist_ok=True)
    added = [
        f"--image3=kind=ptx,sm={target.chip.removeprefix('sm_')},file={path}"
        for target, path in ptx.items()
    ]
    if compress:
        added += ["--compress-all", "--compress-mode=size"]
    script = root / "bin" / cuda.fatbinary.name
    script.write_text(
        f'#!/bin/sh\nexec {shlex.quote(str(cuda.fatbinary))} "$@" {shlex.join(added)}\n'
    )
    script.chmod(0o755)
    return root


# The images that clang 16 to 21 name are files of machine code, or PTX.
_FOR_OLDER_CLANG = """\
#!/bin/sh
# CUDA 13's fatbinary, with the options that clang 16 to 21 give it.
for word; do
  shift
  case $word in
    --image=profile=sm_*) word="--image3=kind=elf,sm=${{word#--image=profile=sm_}}" ;;
    --image=profile=compute_*) word="--image3=kind=ptx,sm=${{word#--image=profile=compute_}}" ;;
  esac
  set -- "$@" "$word"
done
exec {fatbinary} "$@"
"""


def write_cuda_for_older_clang(cuda: Cuda, folder: Path) -> None:
    """Makes a folder that clang 16 to 21 take as this CUDA: links, and a fatbinary.

    Raises InputError where there is something already.
    """
    if folder.exists():
        raise InputError(f"--emit-cuda={folder}: there is something already")
    (folder / "bin").mkdir(parents=True)
    for path in [*cuda.root.iterdir(), *(cuda.root / "bin").iterdir()]:
        if path not in (cuda.root / "bin", cuda.fatbinary):
            (folder / path.relative_to(cuda.root)).symlink_to(path)
    script = folder / "bin" / cuda.fatbinary.name
    script.write_text(_FOR_OLDER_CLANG.format(fatbinary=shlex.quote(str(cuda.fatbinary))))
    script.chmod(0o755)

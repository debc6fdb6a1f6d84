"""What goes into a fat binary beside the images that clang's link makes: PTX, and compression.

clang's linker wrapper puts its images together with CUDA's fatbinary, which it looks for in the
CUDA that it is told of, and has no option for either. So it is told of a folder with a fatbinary
that runs the other with more arguments.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from .target import Target
from .toolchain import Cuda


def with_own_fatbinary(
    cuda: Cuda, ptx: Mapping[Target, Path], folder: Path | None, *, compress: bool
) -> Path:
    """The folder to be named as CUDA's, in `folder`. Without one it is named, and not made."""
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

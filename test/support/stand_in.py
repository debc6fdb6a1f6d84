"""A CUDA whose runtime is a stand-in that has GPUs (stand_in_cudart.c)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hirc.compiler.archive import archive
from hirc.compiler.object_symbols import object_symbols
from hirc.compiler.toolchain import find_cuda

_SOURCE = Path(__file__).parent / "stand_in_cudart.c"


def stand_in_cuda(folder: Path, clang: Path, *flags: str, libraries: str = "lib") -> Path:
    """Makes it in `folder`, of what CUDA there is; `flags` name another host, whose libraries CUDA
    has in a folder of their own.
    """
    compiled = folder / "cudart.o"
    subprocess.run([clang, *flags, "-O1", "-fPIC", "-c", _SOURCE, "-o", compiled], check=True)
    data = compiled.read_bytes()
    defined = [symbol.name for symbol in object_symbols(data) if symbol.is_defined]
    real, cuda = find_cuda().root, folder / "cuda"
    (cuda / libraries).mkdir(parents=True)
    for name in os.listdir(real):
        if name != "lib":
            (cuda / name).symlink_to(real / name)
    (cuda / libraries / "libcudart_static.a").write_bytes(archive([("cudart.o", data, defined)]))
    return cuda

"""What compiled code depends on, as a name for the cache."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .options import Options
from .safetensors import TensorFile
from .source import Source
from .toolchain import LINKING_PARTS, clang_candidates, find_cuda, takes_wide_vectors

_PACKAGE = Path(__file__).parent.parent
_SOURCES = (".py", ".c", ".h")
# Folders of a source tree that are no part of the package.
_ELSEWHERE = ("test", "docs", "build")
# The lines of /proc/cpuinfo with what processors have.
_FEATURES = ("flags", "Features")
# What else compiles: MLIR, LLVM.
_PROVIDERS = ("torch_mlir", "llvmlite")


def code_key(source: Source, options: Options, weights: TensorFile | None) -> str:
    """Returns a digest of the program, of what is asked for, and of everything that takes part."""
    digest = hashlib.sha256()
    # What changes nothing in code.
    said = replace(
        options,
        inputs=(),
        link_inputs=(),
        cuda_path=None,
        rocm_path=None,
        clang=None,
        verbose=False,
        dry_run=False,
    )
    clang = options.clang or next(clang_candidates(), None)
    cuda = find_cuda(options.cuda_path, optional=LINKING_PARTS)
    tools = [clang, cuda.libdevice, cuda.ptxas, cuda.static_runtime]
    for part in (
        *(_state_of_compiler(), repr(said), repr(source.name), _processor()),
        f"wide vectors: {takes_wide_vectors()}",
        *(_state_of(tool) for tool in tools if tool is not None),
        *(() if weights is None else _values(weights)),
    ):
        digest.update(part.encode() + b"\0")
    digest.update(source.data)
    return digest.hexdigest()[:32]


@cache
def _processor() -> str:
    """Returns what identifies this machine's processor: a cache may be of several machines."""
    with suppress(OSError), open("/proc/cpuinfo") as file:
        return next((line for line in file if line.startswith(_FEATURES)), "")
    return ""


def _values(weights: TensorFile) -> Iterator[str]:
    """Yields what tells weights from others."""
    for name, tensor in weights.tensors.items():
        yield f"{name} {tensor} {zlib.crc32(tensor.data)}"
    yield repr(sorted(weights.metadata.items()))


@cache
def _state_of_compiler() -> str:
    """Returns what identifies this compiler, MLIR and LLVM: their files' sizes and times."""
    digest = hashlib.sha256()
    for name in _PROVIDERS:
        spec = find_spec(name)
        digest.update(_state_of(Path(spec.origin if spec and spec.origin else name)).encode())
    folders = [os.fspath(_PACKAGE)]
    found: list[str] = []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(_SOURCES):
                    status = entry.stat()
                    found.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif (
                    entry.name[0] not in "._"
                    and entry.name not in _ELSEWHERE
                    and entry.is_dir(follow_symlinks=False)
                ):
                    folders.append(entry.path)
    digest.update("\n".join(sorted(found)).encode())
    return digest.hexdigest()


def _state_of(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return str(path)
    return f"{path} {status.st_size} {status.st_mtime_ns}"

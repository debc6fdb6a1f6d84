"""The support library as bitcode: compiled from C once for a clang, then kept in the cache."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from .cache import cached
from .errors import ToolchainError
from .llvm_ir import merge_bitcode
from .process import Runner
from .toolchain import Clang

_SOURCES = Path(__file__).parent / "runtime"
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fno-stack-protector", "-c", "-emit-llvm")


def support_bitcode(clang: Clang, runner: Runner) -> bytes:
    """The support library as one bitcode module, compiling it when it is not in the cache.

    Raises ToolchainError when clang cannot compile it.
    """
    sources = sorted(_SOURCES.glob("*.c"))
    digest = hashlib.sha256(f"{clang.version} {_FLAGS}".encode())
    for path in [*sources, *sorted(_SOURCES.glob("*.h"))]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())

    def compile_all() -> bytes:
        with tempfile.TemporaryDirectory(prefix="hirc-") as folder:
            built = [_compile(source, Path(folder), clang, runner) for source in sources]
            return merge_bitcode([path.read_bytes() for path in built])

    return cached(f"support-{digest.hexdigest()[:16]}.bc", compile_all)


def _compile(source: Path, folder: Path, clang: Clang, runner: Runner) -> Path:
    output = folder / f"{source.stem}.bc"
    done = runner.run([clang.path, *_FLAGS, source, "-o", output])
    if done.status != 0:
        raise ToolchainError(
            f"clang cannot compile the support library: {done.errors.strip()}",
            hint="its C headers may be missing: on Debian, apt-get install libc6-dev",
        )
    return output

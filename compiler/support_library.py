"""Libraries in C as bitcode: compiled once for a clang, then kept in the cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from ..dialects.records import dataclass
from .archive import archive
from .cache import cached
from .errors import ToolchainError
from .host import Host
from .llvm_ir import extract_definitions, hidden_object, host_machine, merge_bitcode
from .output import scratch_folder
from .process import Runner
from .toolchain import Clang

_HEADERS = {"x86_64": "libc6-dev-amd64-cross", "aarch64": "libc6-dev-arm64-cross"}
_SOURCES = Path(__file__).parent / "runtime"
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fno-stack-protector", "-c", "-emit-llvm")


def support_bitcode(clang: Clang, runner: Runner) -> bytes:
    """Returns the support library as one bitcode module, for outputs that are linked without hirc.

    Raises ToolchainError when clang cannot compile it.
    """
    return bitcode_of(_support(), clang, runner)


def support_archive(clang: Clang, runner: Runner) -> bytes:
    """Returns the support library as an archive, an object file for each source, for what hirc
    links.

    None of its symbols leaves the linked file. Raises ToolchainError when clang cannot compile it.
    """
    library = _support()

    def make() -> bytes:
        compiled = _compiled(library, clang, runner)
        # Another output will want it so.
        cached_for(library, clang, ".bc", lambda: merge_bitcode(list(compiled.values())))
        return archive(
            [(f"{name}.o", *hidden_object(bitcode)) for name, bitcode in compiled.items()]
        )

    return cached_for(library, clang, ".a", make)


def _support() -> Library:
    return Library("support library", _SOURCES, _FLAGS)


@dataclass(frozen=True)
class Library:
    """C sources of a folder and those below it, and how clang compiles them.

    `assembly` is LLVM IR that belongs to it too, `headers` are files of other folders.
    """

    name: str
    folder: Path
    flags: tuple[str, ...]
    assembly: str = ""
    headers: tuple[Path, ...] = ()

    def sources(self) -> list[Path]:
        """Returns the files that are compiled."""
        return [path for path in _files(self.folder) if path.suffix == ".c"]


def bitcode_of(library: Library, clang: Clang, runner: Runner) -> bytes:
    """Returns a library as one bitcode module, compiling it when it is not in the cache.

    Raises ToolchainError when clang cannot compile it.
    """

    def make() -> bytes:
        return merge_bitcode(list(_compiled(library, clang, runner).values()))

    return cached_for(library, clang, ".bc", make)


def functions_of(library: Library, clang: Clang, runner: Runner, wanted: Iterable[str]) -> bytes:
    """Returns bitcode of those of the functions `wanted` that a library has, with their needs.

    Reading all of a library may take longer than all else that is done to a small kernel.
    """
    names = sorted(set(wanted))
    key = hashlib.sha256(f"{_digest(library, clang.key)} {' '.join(names)}".encode())

    def extract() -> bytes:
        return extract_definitions(
            bitcode_of(library, clang, runner), names, host_machine(0, clang.host.triple)
        )

    return cached(f"{_file_name(library)}-{key.hexdigest()[:16]}.bc", extract)


def _compiled(library: Library, clang: Clang, runner: Runner) -> dict[str, bytes]:
    """Returns the bitcode of each source, by names that tell them apart. Raises ToolchainError."""
    with scratch_folder() as folder:
        files = library.sources()
        if library.assembly:
            files.append(folder / "assembly.ll")
            files[-1].write_text(library.assembly)
        built = {f"{path.parent.name}-{path.stem}": path for path in files}
        commands = [
            [*clang.command, *library.flags, source, "-o", folder / f"{name}.bc"]
            for name, source in built.items()
        ]
        for done in runner.run_all(commands):
            if done.status != 0:
                raise ToolchainError(
                    f"clang cannot compile the {library.name}: {done.errors.strip()}",
                    hint=_headers_hint(clang.host) if "file not found" in done.errors else None,
                )
        return {name: (folder / f"{name}.bc").read_bytes() for name in built}


def _headers_hint(host: Host) -> str:
    package = "libc6-dev" if host.is_native else _HEADERS[host.processor]
    return f"C headers are missing: on Debian, apt-get install {package}"


def cached_for(library: Library, clang: Clang, suffix: str, make: Callable[[], bytes]) -> bytes:
    """Returns what `make` gives for these sources and this clang, or the cache has of it."""
    return cached(f"{_file_name(library)}-{_digest(library, clang.key)}{suffix}", make)


def _file_name(library: Library) -> str:
    return library.name.replace(" ", "-").lower()


@cache
def _digest(library: Library, clang: str) -> str:
    """Makes what tells these sources, these flags and this clang from others."""
    digest = hashlib.sha256(f"{clang} {library.flags} {library.assembly}".encode())
    for path in [*_files(library.folder), *library.headers]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _files(folder: Path) -> tuple[Path, ...]:
    """Returns the sources and headers of a folder and those below it, sorted."""
    files = [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]
    return tuple(Path(path) for path in sorted(files) if path.endswith((".c", ".h")))

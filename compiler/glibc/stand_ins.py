"""Stand-ins for an older GNU C library: the symbols that it has, made of this machine's.

glibc keeps what it had: a function that changed is there in each version. So the symbols of an
older release are those of this one, of each name the newest that the older one has.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from ..archive import archive
from ..cache import cached
from ..errors import InputError, ToolchainError, UnsupportedError
from ..object_symbols import (
    VersionedSymbol,
    archive_symbols,
    object_symbols,
    versioned_symbols,
)
from ..output import scratch_folder
from ..process import Runner
from ..toolchain import Clang

_HERE = Path(__file__).parent
_START, _NEWER_CALLS = _HERE / "start.c", _HERE / "newer_calls.c"
# What an executable begins with, as clang calls it.
_START_FILE = "Scrt1.o"
# Libraries that a program is linked with as they are called, those whose symbols a stand-in has.
_LIBC, _LIBM, _DYNAMIC_LINKER = "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"
# Functions that glibc links into every file.
_NONSHARED = "libc_nonshared.a"
# Libraries that became part of libc.so.6 in 2.34: the stand-in for that has their symbols, but an
# older release loads them from here.
_PARTS = ("libpthread.so.0", "libdl.so.2", "librt.so.1")
_OBJECT, _TLS = 1, 6


def older_glibc_flags(version: str, folder: Path, clang: Clang, runner: Runner) -> list[str]:
    """Returns clang's flags for a link of what runs with glibc `version`, and later ones.

    Writes the stand-ins to `folder`. Raises InputError for a release that this machine's is older
    than, UnsupportedError where there is no glibc for x86-64.
    """
    files = _find(clang, runner)

    def make() -> bytes:
        _refuse_newer(version, files)
        return _make(version, files, clang, runner)

    packed = cached(f"glibc-{_digest(version, files, clang)}.tar", make)
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive_file:
        # A filter of extractall is newer than Python 3.11.0; what is in here is hirc's own.
        for member in archive_file:
            content = archive_file.extractfile(member)
            assert content is not None, member.name
            (folder / member.name).write_bytes(content.read())
    # What this machine's libgcc_s.so.1 needs may be newer; the other system has a libgcc_s of its
    # own.
    flags = [f"-B{folder}", f"-L{folder}", "-Wl,--allow-shlib-undefined"]
    return [*flags, *(f"-l{_link_name(name)}" for name in _PARTS)]


def _refuse_newer(version: str, files: Mapping[str, Path]) -> None:
    newest = max(_releases(files).values(), default=(0,))
    if _parsed(version) > newest:
        raise InputError(
            f"--glibc={version} is newer than this machine's glibc, which is {_text(newest)}",
            stage="link",
        )


def release_of(symbol: str, clang: Clang, runner: Runner) -> str | None:
    """Returns the first release of glibc with a function; None if this machine's has none."""
    found = _releases(_find(clang, runner)).get(symbol)
    return None if found is None else _text(found)


def _find(clang: Clang, runner: Runner) -> dict[str, Path]:
    """Returns where this machine's libraries are."""
    names = (_LIBC, _LIBM, _DYNAMIC_LINKER, _NONSHARED)
    asked = runner.run_all([[*clang.command, f"-print-file-name={name}"] for name in names])
    found = {name: Path(done.output.strip()) for name, done in zip(names, asked, strict=True)}
    if clang.host.processor != "x86_64" or not all(path.is_file() for path in found.values()):
        raise UnsupportedError(
            "--glibc is for x86-64 machines with GNU's C library",
            stage="link",
            hint="on Debian, apt-get install libc6-dev",
        )
    return found


def _releases(files: Mapping[str, Path]) -> dict[str, tuple[int, ...]]:
    """Returns the first release that has each symbol."""
    releases: dict[str, tuple[int, ...]] = {}
    for name in (_LIBC, _LIBM, _DYNAMIC_LINKER):
        for symbol in versioned_symbols(files[name].read_bytes()):
            release = _release(symbol)
            if release is not None:
                releases[symbol.name] = min(release, releases.get(symbol.name, release))
    return releases


def _release(symbol: VersionedSymbol) -> tuple[int, ...] | None:
    """Returns the release that a symbol's version names; None for glibc's private ones."""
    match = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", symbol.version)
    return _parsed(match[1]) if match else None


def _parsed(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _text(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


def _link_name(file: str) -> str:
    """Returns what -l calls a library: pthread for libpthread.so.0."""
    return file.removeprefix("lib").partition(".so")[0]


def _digest(version: str, files: Mapping[str, Path], clang: Clang) -> str:
    """Makes what tells these stand-ins from others. Libraries are told by their files: to read them
    takes longer than the rest of a link.
    """
    digest = hashlib.sha256(f"{version} {clang.version}".encode())
    for path in files.values():
        status = path.stat()
        digest.update(f"{path.resolve()} {status.st_size} {status.st_mtime_ns}".encode())
    for path in (_START, _NEWER_CALLS, Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _make(version: str, files: Mapping[str, Path], clang: Clang, runner: Runner) -> bytes:
    """Returns the stand-ins, packed. Raises ToolchainError."""
    with scratch_folder() as folder:
        out = folder / "out"
        out.mkdir()
        # Functions that each linked file has for itself: they register handlers as that file's.
        # glibc still has some of them too, for files that were linked before.
        own = archive_symbols(files[_NONSHARED].read_bytes())
        commands: list[list[str | Path]] = []
        for name in (_LIBC, _LIBM, _DYNAMIC_LINKER):
            kept = _kept(files[name], _parsed(version))
            taken = {each: symbol for each, symbol in kept.items() if each not in own}
            commands.append(_library_command(name, taken, folder, out, clang))
        commands += [_library_command(name, {}, folder, out, clang) for name in _PARTS]
        calls = folder / "newer_calls.o"
        flags = ("-std=c11", "-O2", "-fPIC", "-fno-builtin", "-c")
        for source, target in ((_START, out / _START_FILE), (_NEWER_CALLS, calls)):
            commands.append([*clang.command, *flags, source, "-o", target])
        for done in runner.run_all(commands):
            if done.status != 0:
                raise ToolchainError(
                    f"clang cannot make stand-ins for glibc {version}: {done.errors.strip()}",
                    stage="link",
                )
        data = calls.read_bytes()
        defined = [symbol.name for symbol in object_symbols(data) if symbol.is_defined]
        (out / "libhirc_newer_calls.a").write_bytes(archive([("newer_calls.o", data, defined)]))
        # Linker scripts, as glibc's own libc.so is one.
        (out / "libc.so").write_text(
            f"INPUT({_LIBC} -lhirc_newer_calls {files[_NONSHARED]} AS_NEEDED({_DYNAMIC_LINKER}))\n"
        )
        for name in (_LIBM, *_PARTS):
            (out / f"lib{_link_name(name)}.so").write_text(f"INPUT({name})\n")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive_file:
            for path in sorted(out.iterdir()):
                archive_file.add(path, path.name)
        return packed.getvalue()


def _kept(library: Path, oldest: tuple[int, ...]) -> dict[str, VersionedSymbol]:
    """Returns the symbols that a release has, each in its newest version of then."""
    kept: dict[str, VersionedSymbol] = {}
    newest: dict[str, tuple[int, ...]] = {}
    for symbol in versioned_symbols(library.read_bytes()):
        release = _release(symbol)
        if release is None or release > oldest or release < newest.get(symbol.name, ()):
            continue
        kept[symbol.name], newest[symbol.name] = symbol, release
    return kept


def _library_command(
    name: str, symbols: Mapping[str, VersionedSymbol], folder: Path, out: Path, clang: Clang
) -> list[str | Path]:
    """Returns the command that makes a library of symbols without code; writes what it reads."""
    source, script = folder / f"{name}.s", folder / f"{name}.map"
    source.write_text(
        "".join(map(_definition, symbols.values())) + '.section .note.GNU-stack,"",@progbits\n'
    )
    versions: dict[str, list[str]] = defaultdict(list)
    for symbol in symbols.values():
        versions[symbol.version].append(symbol.name)
    script.write_text(
        "".join(
            f"{version} {{ global: {' '.join(f'{each};' for each in names)} }};\n"
            for version, names in sorted(versions.items())
        )
    )
    command: list[str | Path] = [*clang.command, "-shared", "-nostdlib", f"-Wl,-soname,{name}"]
    if symbols:
        command.append(f"-Wl,--version-script={script}")
    lld = clang.directory / "ld.lld"
    if lld.is_file():
        command.append(f"--ld-path={lld}")
    return [*command, source, "-o", out / name]


def _definition(symbol: VersionedSymbol) -> str:
    """Returns assembly that defines a symbol: sizes count where a program copies a variable."""
    name, size = symbol.name, symbol.size
    if symbol.kind == _TLS:
        where, kind, content = '.section .tbss,"awT",@nobits', "tls_object", f".zero {size}"
    elif symbol.kind == _OBJECT:
        where, kind, content = ".bss", "object", f".zero {size}"
    else:
        where, kind, content, size = ".text", "function", "nop", 1
    return (
        f"{where}\n.globl {name}\n.type {name}, @{kind}\n.size {name}, {size}\n{name}: {content}\n"
    )

"""hirc-cache: what is kept between runs of what was compiled."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .start import end_by_interrupts

if TYPE_CHECKING:
    from ..compiler.cache import CachedFile

_KINDS = (
    ("code-", "compiled programs"),
    ("", "the compiler's own libraries"),
)
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def main(arguments: Sequence[str] | None = None) -> int:
    """Lists, counts or removes what the cache holds. Returns the exit status."""
    if arguments is None:
        end_by_interrupts()
    from .command import Command, flushed
    from .streams import prepare_streams

    if arguments is None:
        prepare_streams()
    command = Command("hirc-cache", list(sys.argv[1:] if arguments is None else arguments))
    return flushed(lambda: command.guard(lambda: _run(command.words)))


def _run(arguments: Sequence[str]) -> int:
    from ..compiler.cache import cached_files, clear, find_cache
    from ..compiler.errors import InputError
    from ..compiler.toolchain import cache_bytes
    from .argument_parser import ArgumentParser

    parser = ArgumentParser(
        prog="hirc-cache",
        description="The cache of compiled programs and of hirc's own libraries "
        "(HIRC_CACHE_DIR, HIRC_CACHE_BYTES).",
    )
    parser.add_argument(
        "command",
        choices=("list", "stat", "clear"),
        help="list: its files, used last at the end; stat: how many and how large; clear: removes "
        "them",
    )
    request = parser.parse_args(arguments)
    found = find_cache(make=False)
    most = cache_bytes()
    for refused in found.refused:
        print(f"hirc-cache: note: {refused}", file=sys.stderr)
    if found.folder is None:
        raise InputError("there is no cache")
    if request.command == "clear":
        gone = clear(found.folder)
        print(f"removed {_counted(gone)} from {found.folder}")
        return 0
    files = cached_files(found.folder)
    if request.command == "list":
        now = time.time()
        for file in files:
            print(f"{_size(file.bytes):>10}  {_age(now - file.used):>10}  {file.name}")
        return 0
    print(f"{found.folder}: {_counted(files)}, at most {_size(most)}")
    for prefix, what in _KINDS:
        mine = [file for file in files if _kind(file) == prefix]
        print(f"  {what}: {_counted(mine)}")
    return 0


def _kind(file: CachedFile) -> str:
    return next(prefix for prefix, _ in _KINDS if file.name.startswith(prefix))


def _counted(files: Sequence[CachedFile]) -> str:
    count = len(files)
    total = _size(sum(file.bytes for file in files))
    return f"{count} file{'' if count == 1 else 's'}, {total}"


def _size(count: int) -> str:
    size = float(count)
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            return f"{size:.0f} {unit}" if unit == _UNITS[0] else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError


def _age(seconds: float) -> str:
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return "now"


if __name__ == "__main__":
    sys.exit(main())

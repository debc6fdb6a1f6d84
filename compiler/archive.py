"""Archives of object files: a link takes the members that define what it lacks.

The form is the one every linker on Linux reads: an index of symbols, long names, the members.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

_MAGIC = b"!<arch>\n"


def archive(members: Sequence[tuple[str, bytes, Iterable[str]]]) -> bytes:
    """Returns an archive of members: a name, an object file, and the symbols that it defines."""
    names, long_names = b"", list[str]()
    for name, _, _ in members:
        long_names.append(f"/{len(names)}")
        names += f"{name}/\n".encode()
    symbols = [(symbol, place) for place, (_, _, all_) in enumerate(members) for symbol in all_]
    text = b"".join(symbol.encode() + b"\0" for symbol, _ in symbols)
    index_bytes = 4 + 4 * len(symbols) + len(text)
    table = _member("//", names)
    begin = len(_MAGIC) + len(_member("/", bytes(index_bytes))) + len(table)
    packed, offsets = b"", list[int]()
    for long_name, (_, data, _) in zip(long_names, members, strict=True):
        offsets.append(begin + len(packed))
        packed += _member(long_name, data)
    places = [offsets[place] for _, place in symbols]
    index = struct.pack(f">{1 + len(places)}I", len(places), *places) + text
    return _MAGIC + _member("/", index) + table + packed


def _member(name: str, data: bytes) -> bytes:
    """Returns a member with its header: name, time, owner, group, mode, size. It begins at even
    bytes.
    """
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n"
    return header.encode() + data + b"\n" * (len(data) % 2)

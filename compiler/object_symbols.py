"""The symbols of object files and archives: the System V ABI's ELF-64 (gABI 4.1), little endian."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTIONS_AT, _SECTION_COUNT_AT = 40, 60
_SYMTAB = 2
_LOCAL, _WEAK = 0, 2
_SECTION_SYMBOL, _FILE_SYMBOL = 3, 4
_INTERNAL, _HIDDEN = 1, 2
_UNDEFINED = 0

_ARCHIVE = b"!<arch>\n"
_HEADER_BYTES = 60


@dataclass(frozen=True)
class Symbol:
    """A symbol that is not local. `is_weak`: it may stay undefined, or be defined twice."""

    name: str
    is_defined: bool
    is_weak: bool
    is_hidden: bool


def object_symbols(data: bytes) -> Iterator[Symbol]:
    """The symbols of an object file that are not local."""
    (sections_at,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    (count,) = struct.unpack_from("<H", data, _SECTION_COUNT_AT)
    sections = [
        _SECTION.unpack_from(data, sections_at + place * _SECTION.size) for place in range(count)
    ]
    for _, kind, _, _, at, size, strings, _, _, _ in sections:
        if kind != _SYMTAB:
            continue
        strings_at = sections[strings][4]
        for name_at, info, other, section, _, _ in _SYMBOL.iter_unpack(data[at : at + size]):
            binding, what = info >> 4, info & 15
            if binding == _LOCAL or what in (_SECTION_SYMBOL, _FILE_SYMBOL) or name_at == 0:
                continue
            start = strings_at + name_at
            yield Symbol(
                data[start : data.index(b"\0", start)].decode(errors="surrogateescape"),
                section != _UNDEFINED,
                binding == _WEAK,
                other & 3 in (_INTERNAL, _HIDDEN),
            )


def archive_symbols(data: bytes) -> list[str]:
    """The names that an archive's members define, of its index."""
    if not data.startswith(_ARCHIVE) or data[len(_ARCHIVE) : len(_ARCHIVE) + 2] != b"/ ":
        return []
    begin = len(_ARCHIVE) + _HEADER_BYTES
    size = int(data[begin - 12 : begin - 2])
    (count,) = struct.unpack_from(">I", data, begin)
    names = data[begin + 4 + 4 * count : begin + size].split(b"\0")
    return [name.decode() for name in names[:count]]

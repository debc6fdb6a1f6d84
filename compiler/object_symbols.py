"""Sections and symbols of objects, libraries and archives: ELF-64 (gABI 4.1), little endian."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from ..dialects.records import dataclass

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTIONS_AT, _SECTION_COUNT_AT, _NAMES_AT = 40, 60, 62
_NULL, _NOBITS = 0, 8
_SYMTAB, _DYNSYM = 2, 11
_VERSION_DEFINITIONS, _VERSION_NUMBERS = 0x6FFFFFFD, 0x6FFFFFFF
_DEFINITION, _DEFINED_NAME = struct.Struct("<HHHHIII"), struct.Struct("<II")
_VERSION_MASK = 0x7FFF
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


@dataclass(frozen=True)
class VersionedSymbol:
    """A symbol that a shared library defines, in one version of it; "" where it has none.

    `kind` is ELF's type of symbols, `size` is in bytes.
    """

    name: str
    version: str
    kind: int
    size: int


@dataclass(frozen=True)
class Section:
    """A section; what takes room in memory alone has no content."""

    name: str
    size: int
    content: bytes


def elf_sections(data: bytes) -> list[Section]:
    """Returns the sections of an ELF file. Raises ValueError for one that is damaged."""
    try:
        headers = _sections(data)
        (names,) = struct.unpack_from("<H", data, _NAMES_AT)
        strings = _content(data, headers[names]) if headers else b""
        return [
            Section(_text(strings, header[0]), header[5], _content(data, header))
            for header in headers
        ]
    except (struct.error, IndexError) as error:
        raise ValueError(f"its sections cannot be read: {error}") from error


def _content(data: bytes, header: tuple[int, ...]) -> bytes:
    _, kind, _, _, at, size, *_ = header
    if kind in (_NULL, _NOBITS):
        return b""
    if at + size > len(data):
        raise ValueError("a section lies beyond its end")
    return data[at : at + size]


def object_symbols(data: bytes) -> Iterator[Symbol]:
    """Yields the symbols of an object file that are not local."""
    sections = _sections(data)
    for _, kind, _, _, at, size, strings, _, _, _ in sections:
        if kind != _SYMTAB:
            continue
        strings_at = sections[strings][4]
        for name_at, info, other, section, _, _ in _SYMBOL.iter_unpack(data[at : at + size]):
            binding, what = info >> 4, info & 15
            if binding == _LOCAL or what in (_SECTION_SYMBOL, _FILE_SYMBOL) or name_at == 0:
                continue
            yield Symbol(
                _text(data, strings_at + name_at),
                section != _UNDEFINED,
                binding == _WEAK,
                other & 3 in (_INTERNAL, _HIDDEN),
            )


def versioned_symbols(data: bytes) -> Iterator[VersionedSymbol]:
    """Yields the symbols that a shared library defines (GNU's symbol versions, LSB 5.0)."""
    sections = _sections(data)
    by_kind = {section[1]: section for section in sections}
    if _DYNSYM not in by_kind:
        return
    versions = _versions(data, sections, by_kind.get(_VERSION_DEFINITIONS))
    numbers = by_kind.get(_VERSION_NUMBERS)
    _, _, _, _, at, size, strings, *_ = by_kind[_DYNSYM]
    strings_at = sections[strings][4]
    symbols = _SYMBOL.iter_unpack(data[at : at + size])
    for place, (name_at, info, _, section, _, bytes_) in enumerate(symbols):
        if section == _UNDEFINED or info >> 4 == _LOCAL or name_at == 0:
            continue
        number = 0
        if numbers is not None:
            (number,) = struct.unpack_from("<H", data, numbers[4] + 2 * place)
        version = versions.get(number & _VERSION_MASK, "")
        yield VersionedSymbol(_text(data, strings_at + name_at), version, info & 15, bytes_)


def _versions(
    data: bytes, sections: Sequence[tuple[int, ...]], table: tuple[int, ...] | None
) -> dict[int, str]:
    """Returns the names of a library's versions by their numbers."""
    names: dict[int, str] = {}
    if table is None:
        return names
    at, strings_at = table[4], sections[table[6]][4]
    while True:
        _, _, number, _, _, name_offset, next_offset = _DEFINITION.unpack_from(data, at)
        name_at, _ = _DEFINED_NAME.unpack_from(data, at + name_offset)
        names[number] = _text(data, strings_at + name_at)
        if next_offset == 0:
            return names
        at += next_offset


def with_renamed(data: bytes, rename: Callable[[str], str]) -> bytes:
    """Returns an object file in which symbols that are not local have other names;
    "" leaves one.
    """
    out = bytearray(data)
    (sections_at,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    sections = _sections(data)
    for _, kind, _, _, at, size, strings, _, _, _ in sections:
        if kind != _SYMTAB:
            continue
        name, form, flags, address, strings_at, strings_size, *rest = sections[strings]
        table = bytearray(data[strings_at : strings_at + strings_size])
        for place in range(at, at + size, _SYMBOL.size):
            name_at, info, *others = _SYMBOL.unpack_from(data, place)
            old = _text(table, name_at)
            new = rename(old) if info >> 4 != _LOCAL else ""
            if new:
                _SYMBOL.pack_into(out, place, len(table), info, *others)
                table += new.encode() + b"\0"
        moved = name, form, flags, address, len(out), len(table), *rest
        _SECTION.pack_into(out, sections_at + strings * _SECTION.size, *moved)
        out += table
    return bytes(out)


def _sections(data: bytes) -> list[tuple[int, ...]]:
    (sections_at,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    (count,) = struct.unpack_from("<H", data, _SECTION_COUNT_AT)
    return [
        _SECTION.unpack_from(data, sections_at + place * _SECTION.size) for place in range(count)
    ]


def _text(strings: bytes | bytearray, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode(errors="surrogateescape")


def archive_symbols(data: bytes) -> list[str]:
    """Returns the names that an archive's members define, of its index."""
    if not data.startswith(_ARCHIVE) or data[len(_ARCHIVE) : len(_ARCHIVE) + 2] != b"/ ":
        return []
    begin = len(_ARCHIVE) + _HEADER_BYTES
    size = int(data[begin - 12 : begin - 2])
    (count,) = struct.unpack_from(">I", data, begin)
    names = data[begin + 4 + 4 * count : begin + size].split(b"\0")
    return [name.decode() for name in names[:count]]

"""Object files that hold bytes under one symbol: no compiler reads what is only to be there.

Layout: the System V ABI's ELF-64 (gABI 4.1) and, for sections that may be large, its x86-64
supplement. The linker places those away from code, so that what is small stays within reach.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import BinaryIO

from .host import Host

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

# Machine numbers, the data section's name there, and its flag for a section of any size.
_MACHINES = {"x86_64": (62, ".lrodata", 1 << 28), "aarch64": (183, ".rodata", 0)}
_PROGBITS, _SYMTAB, _STRTAB = 1, 2, 3
_ALLOCATED = 2
_WEAK_OBJECT = 2 << 4 | 1
_HIDDEN = 2
_PAGE = 4096


def write_object(
    output: BinaryIO,
    symbol: str,
    pieces: Iterable[tuple[int, memoryview]],
    host: Host,
    *,
    section: str | None = None,
    alignment: int = _PAGE,
) -> None:
    """Writes a relocatable object whose read-only section, on a page, is `symbol`.

    `pieces` are offsets in the section, in order, and the bytes there; between them are zeros. The
    section is one of weights, which may be large, unless it is named.
    """
    machine, of_weights, large = _MACHINES[host.processor]
    if section is None:
        section = f"{of_weights}.hirc_weights"
    else:
        large = 0
    begin = -(-_HEADER.size // alignment) * alignment
    output.write(b"\0" * begin)
    size = 0
    for offset, data in pieces:
        output.write(b"\0" * (offset - size))
        output.write(data)
        size = offset + data.nbytes
    size += output.write(b"\0" * (-size % alignment))
    names = _Names()
    symbols = bytes(_SYMBOL.size) + _SYMBOL.pack(
        names.add(symbol), _WEAK_OBJECT, _HIDDEN, 1, 0, size
    )
    data_name = names.add(section)
    table_names = [names.add(name) for name in (".symtab", ".strtab", ".note.GNU-stack")]
    strings = names.text + b"\0" * (-len(names.text) % 8)
    symbols_at = begin + size
    strings_at = symbols_at + len(symbols)
    sections = [
        bytes(_SECTION.size),
        _SECTION.pack(data_name, _PROGBITS, _ALLOCATED | large, 0, begin, size, 0, 0, alignment, 0),
        # The one symbol that is not local is the second; the names are in section 3.
        _SECTION.pack(
            table_names[0], _SYMTAB, 0, 0, symbols_at, len(symbols), 3, 1, 8, _SYMBOL.size
        ),
        _SECTION.pack(table_names[1], _STRTAB, 0, 0, strings_at, len(strings), 0, 0, 1, 0),
        _SECTION.pack(table_names[2], _PROGBITS, 0, 0, strings_at, 0, 0, 0, 1, 0),
    ]
    output.write(symbols + strings + b"".join(sections))
    output.seek(0)
    # 64 bits, little endian, version 1; relocatable.
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    sections_at = strings_at + len(strings)
    counts = (_HEADER.size, 0, 0, _SECTION.size, len(sections), 3)
    output.write(_HEADER.pack(identity, 1, machine, 1, 0, 0, sections_at, 0, *counts))


class _Names:
    """A string table."""

    def __init__(self) -> None:
        self.text = b"\0"

    def add(self, name: str) -> int:
        """Returns the place of a name, added at the end."""
        place = len(self.text)
        self.text += name.encode() + b"\0"
        return place

"""Phis, taken apart and put together again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .device_ir import Instruction
from .llvm_text import LOCAL

_INCOMING = re.compile(rf"\[ (.*?), ({LOCAL.pattern}) \]")

# A value and the name of the block that it comes from.
Incoming = tuple[str, str]


def phi_incoming(phi: Instruction) -> list[Incoming]:
    """Returns what a phi takes from each block."""
    return [(match[1], match[2]) for match in _INCOMING.finditer(phi.text)]


def phi_with(phi: Instruction, incoming: Iterable[Incoming]) -> Instruction:
    """Returns the same phi with other incoming values."""
    match = _INCOMING.search(phi.text)
    assert match is not None, phi.text
    listed = ", ".join(f"[ {value}, {origin} ]" for value, origin in incoming)
    return Instruction(phi.text[: match.start()] + listed)

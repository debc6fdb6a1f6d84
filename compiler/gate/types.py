"""Types that came after LLVM 22."""

from __future__ import annotations

from .rule import WORD_END, WORD_START, Refusal, Rule


class ByteType(Refusal):
    """`b8`, `b32`: raw memory in a register, with the provenance of the pointers in it."""

    construct = "byte types"
    triggers = ("(b", *(f" b{digit}" for digit in range(1, 10)))
    pattern = rf"{WORD_START}b[1-9]\d*{WORD_END}"
    way_out = "use an integer or a pointer type"


RULES: tuple[type[Rule], ...] = (ByteType,)

"""What a thread keeps of its elements from one branch of a kernel to the next.

A branch for warps whose vectors are all the row's and one for others leave the same values. LLVM
and the assembler would keep more: single elements of 16 bits, of which each takes a register, and
whatever both branches compute of them, instead of computing it anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ..elements import disguised, element_bytes, elements_of_words


@dataclass(frozen=True)
class Left:
    """What a branch leaves of a vector: a `count` of elements of the operand of a number, or of
    values of the region, of a type.

    Smaller elements are left in words, so that each does not take a register.
    """

    vector: int
    what: int | ir.Value
    count: int
    kind: ir.Type

    @property
    def is_in_words(self) -> bool:
        """Whether several elements share a word."""
        kind = self.kind
        is_small = isinstance(kind, ir.IntegerType) and kind.width in (8, 16)
        is_small = is_small or (isinstance(kind, ir.FloatType) and kind.width == 16)
        whole = self.count * element_bytes(kind) % 4 == 0 if is_small else False
        return whole and isinstance(self.what, int)

    def elements(self, values: list[ir.Value], widening: Widening) -> list[ir.Value]:
        """The elements again, in a branch."""
        if not self.is_in_words:
            return values
        is_widened = isinstance(self.kind, ir.BF16Type)
        words = [disguised(word) if is_widened else widening.hidden(word) for word in values]
        return elements_of_words(words, self.kind)


@dataclass(frozen=True)
class Widening:
    """How words of two elements of bf16 become two f32: the lower one times `lower`, which is 2^16,
    and the upper one by a mask, `upper`.

    Where these are numbers that the assembler does not know, it does not keep the floats that one
    branch computes for another one, which computes them in the same number of instructions. `none`
    is 0.
    """

    lower: ir.Value
    upper: ir.Value
    none: ir.Value

    @classmethod
    def of(cls, one: ir.Value) -> Widening:
        """That by a number that is 1."""
        lower = arith.shli(one, arith.constant(one.type, 16))
        none = arith.subi(one, arith.constant(one.type, 1))
        return cls(lower, arith.subi(arith.constant(one.type, 0), lower), none)

    def hidden(self, word: ir.Value) -> ir.Value:
        """A word of which the assembler does not know that it is the same elsewhere."""
        return arith.xori(word, self.none)

    def floats(self, words: Sequence[ir.Value]) -> list[ir.Value]:
        """Returns the elements of words."""
        f32 = ir.F32Type.get()
        halves = [
            half
            for word in words
            for half in (arith.muli(word, self.lower), arith.andi(word, self.upper))
        ]
        return [arith.bitcast(f32, half) for half in halves]


class KeptElements:
    """What there is of vectors' elements between branches: what was loaded, and the region's values
    that are known.
    """

    def __init__(self, count: int, width: int) -> None:
        self.width = width
        self.loaded: list[dict[int, tuple[Left, list[ir.Value]]]] = [{} for _ in range(count)]
        self.known: list[list[dict[ir.Value, ir.Value]]] = [
            [{} for _ in range(width)] for _ in range(count)
        ]

    def __len__(self) -> int:
        return len(self.loaded)

    def know(self, vector: int, element: int, value: ir.Value, found: ir.Value) -> None:
        """Makes a value of the region known at an element of a vector."""
        self.known[vector][element][value] = found

    def take(self, left: Sequence[Left], found: Sequence[ir.Value]) -> None:
        """Takes what a branch left."""
        at = 0
        for each in left:
            count = each.count
            if each.is_in_words:
                count = count * element_bytes(each.kind) // 4
            values = list(found[at : at + count])
            at += count
            if isinstance(each.what, int):
                self.loaded[each.vector][each.what] = (each, values)
                continue
            for element, value in enumerate(values):
                self.know(each.vector, element, each.what, value)

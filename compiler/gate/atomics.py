"""Atomic operations that came after LLVM 22. None has an older spelling of one instruction."""

from __future__ import annotations

from .rule import WORD_START, Refusal, Rule

_ATOMICRMW = rf"{WORD_START}atomicrmw (?:volatile )?"
_INTEGER = "add|sub|and|nand|or|xor|max|min|umax|umin|uinc_wrap|udec_wrap|usub_cond|usub_sat"
# The pointer operand, up to the comma before a vector operand.
_VECTOR_OPERAND = r"(?= ptr[^\n]*?, <)"


class MaximumNumber(Refusal):
    """`atomicrmw fmaximumnum` and `fminimumnum`."""

    construct = "atomicrmw fmaximumnum and fminimumnum"
    triggers = ("mumnum ",)
    pattern = rf"{_ATOMICRMW}f(?:max|min)imumnum "
    way_out = "use fmax or fmin, or a loop of compare and exchange"


class ElementwiseUpdate(Refusal):
    """`atomicrmw elementwise`: each lane is atomic, not the vector."""

    construct = "atomicrmw elementwise"
    triggers = (" elementwise ",)
    pattern = rf"{_ATOMICRMW}elementwise "
    way_out = "use one atomic operation a lane"


class ElementwiseAccess(Refusal):
    """`load atomic elementwise` and `store atomic elementwise`."""

    construct = "atomic load and store elementwise"
    triggers = (" elementwise ",)
    pattern = rf"{WORD_START}(?:load|store) atomic (?:volatile )?elementwise "
    way_out = "use one atomic access a lane"


class IntegerVectorUpdate(Refusal):
    """`atomicrmw add ptr %p, <2 x i32> %v`: the whole vector at once."""

    construct = "atomicrmw on integer vectors"
    triggers = ("atomicrmw ",)
    pattern = rf"{_ATOMICRMW}(?:{_INTEGER}){_VECTOR_OPERAND}"
    way_out = "use a loop of compare and exchange on an integer of that size"


class VectorExchange(Refusal):
    """`atomicrmw xchg ptr %p, <2 x half> %v`."""

    construct = "atomicrmw xchg on vectors"
    triggers = ("atomicrmw xchg ", "atomicrmw volatile xchg ")
    pattern = rf"{_ATOMICRMW}xchg{_VECTOR_OPERAND}"
    way_out = "exchange an integer of that size, cast to and from it"


RULES: tuple[type[Rule], ...] = (
    MaximumNumber,
    ElementwiseUpdate,
    ElementwiseAccess,
    IntegerVectorUpdate,
    VectorExchange,
)

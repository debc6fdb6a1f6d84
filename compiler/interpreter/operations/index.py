"""The index dialect: numbers of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from ..frame import Frame
from ..registry import interprets
from ..scalar_numbers import integer_of_type, signed, unsigned, width_of
from .arith_integers import INTEGER_FUNCTIONS, PREDICATES, on_integers

_FUNCTIONS = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "divs": "divsi",
    "divu": "divui",
    "ceildivs": "ceildivsi",
    "ceildivu": "ceildivui",
    "floordivs": "floordivsi",
    "rems": "remsi",
    "remu": "remui",
    "maxs": "maxsi",
    "maxu": "maxui",
    "mins": "minsi",
    "minu": "minui",
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}
# What index.cmp calls its predicates, as arith.cmpi numbers them.
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@interprets(*(f"index.{name}" for name in _FUNCTIONS))
def numbers(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    name = _FUNCTIONS[op.name.removeprefix("index.")]
    return [on_integers(op, frame, INTEGER_FUNCTIONS[name])]


@interprets("index.constant", "index.bool.constant")
def constant(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value = op.attributes["value"]
    return [value.value if isinstance(value, ir.BoolAttr) else ir.IntegerAttr(value).value]


@interprets("index.cmp")
def compare(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    # The attribute has no class in Python: #index<cmp_predicate slt>.
    name = str(op.attributes["pred"]).split()[-1].rstrip(">")
    a, b = (frame.number(operand) for operand in op.operands)
    return [bool(PREDICATES[_PREDICATES.index(name)](a, b, 64))]


@interprets("index.casts")
def cast_signed(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value = signed(frame.number(op.operands[0]), width_of(op.operands[0].type))
    return [integer_of_type(value, op.results[0].type)]


@interprets("index.castu")
def cast_unsigned(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value = unsigned(frame.number(op.operands[0]), width_of(op.operands[0].type))
    return [integer_of_type(value, op.results[0].type)]


@interprets("index.sizeof")
def size_of(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [64]

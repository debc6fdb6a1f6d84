"""Integer functions of two tensors that a kernel computes in a loop of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from ...dialects.mlir import arith, ir, math, scf
from ...pipelines.rewriting import constant
from .complex_numbers import each_part

_ATEN = torch.ops.aten
_LIBRARY = torch.library.Library("hirc", "FRAGMENT")
_LIBRARY.define("of_integers(Tensor x, Tensor y, str kind) -> Tensor", tags=(torch.Tag.pointwise,))


def _empty(x: Tensor, y: Tensor, kind: str) -> Tensor:
    return torch.empty_like(x)


_LIBRARY.impl("of_integers", _empty, "CompositeExplicitAutograd")
# A power, the greatest common divisor or a shift of integers of one type and equal sizes.
OF_INTEGERS = torch.ops.hirc.of_integers.default
# Whether what shifts is known to be less than the number of bits.
_IS_SHIFT_WITHIN: ContextVar[bool] = ContextVar("is_shift_within", default=False)


def integer_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of negation, shifts, and of common divisors and multiples."""
    return {
        **_shifts(),
        _ATEN.gcd.default: partial(_of_two, "gcd"),
        _ATEN.lcm.default: _lcm,
        _ATEN.neg.default: _neg,
        _ATEN.nan_to_num.default: _nan_to_num,
    }


def power(x: Tensor, y: Tensor) -> Tensor:
    """Returns integers to the power of others, which wraps."""
    return _of_two("power", x, y)


def floor_quotient_of_integers(x: Tensor | int, y: Tensor | int) -> Tensor:
    """Returns the greatest integer not above x / y; torch-mlir divides as f64, which rounds.

    The least integer has no quotient by -1, and wraps.
    """
    one, by = _of_one_type(x, y)
    quotient, rest, divisor = _divided(one, by)
    below = torch.where((rest != 0) & ((rest < 0) != (divisor < 0)), quotient - 1, quotient)
    return torch.where(by == -1, -one, below)


def remainder_of_integers(x: Tensor | int, y: Tensor | int) -> Tensor:
    """Returns what x // y leaves, of the sign of y."""
    _, rest, divisor = _divided(*_of_one_type(x, y))
    return torch.where((rest != 0) & ((rest < 0) != (divisor < 0)), rest + divisor, rest)


def rest_of_integers(x: Tensor, y: Tensor | float) -> Tensor:
    """Returns what x / y, rounded towards 0, leaves, of the sign of x."""
    return _divided(*_of_one_type(x, y))[1]


def _of_one_type(x: Tensor | float, y: Tensor | float) -> tuple[Tensor, Tensor]:
    kind = torch.result_type(x, y)
    return as_tensor(x, kind), as_tensor(y, kind)


def _divided(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the quotient, rounded towards 0, the rest, and what it divided by: 1 in place of -1,
    by which processors do not divide the least integer.
    """
    divisor = torch.where(y == -1, 1, y)
    quotient = torch.div(x, divisor, rounding_mode="trunc")
    return quotient, x - quotient * divisor, divisor


def as_tensor(x: Any, kind: torch.dtype) -> Tensor:
    """Returns a tensor, or a number as one without dims; what an integer type has not wraps."""
    if isinstance(x, Tensor):
        return x.to(kind)
    if isinstance(x, int) and not (kind.is_floating_point or kind.is_complex or kind is torch.bool):
        x = wrap(x, kind)
    return torch.full((), x, dtype=kind)


def wrap(x: int, kind: torch.dtype) -> int:
    """Returns what of a number is left in an integer type."""
    limits = torch.iinfo(kind)
    return (int(x) - limits.min) % (limits.max - limits.min + 1) + limits.min


def operands_of_one_type(program: ExportedProgram) -> None:
    """Makes operands without dims, and numbers, of the type that their operation computes in.

    In torch an integer tensor has its type even beside a wider operand without dims, which wraps;
    torch-mlir widens the tensor, or ends the process. Unsigned types are left.
    """
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            changed = [_narrow_operands(node) for node in [*module.graph.nodes]]
            if any(changed):
                module.recompile()


def _narrow_operands(node: Node) -> bool:
    """Says whether an operand was wider than the type that the operation computes in."""
    kind = _type_of_operands(node)
    if kind is None:
        return False
    changed = False

    def narrowed(operand: Any) -> Any:
        nonlocal changed
        if type(operand) is int and wrap(operand, kind) != operand:
            changed = True
            return wrap(operand, kind)
        value = operand.meta.get("val") if isinstance(operand, Node) else None
        if not isinstance(value, Tensor) or torch.promote_types(value.dtype, kind) == kind:
            return operand
        changed = True
        with node.graph.inserting_before(node):
            made = node.graph.call_function(_ATEN._to_copy.default, (operand,), {"dtype": kind})
        made.meta = {"stack_trace": node.meta.get("stack_trace"), "val": value.to(kind)}
        return made

    node.args = tuple(narrowed(each) for each in node.args)
    return changed


def _type_of_operands(node: Node) -> torch.dtype | None:
    """Returns the signed integer type that an operation computes in element by element."""
    value = node.meta.get("val")
    is_pointwise = torch.Tag.pointwise in getattr(node.target, "tags", ())
    if not is_pointwise or not isinstance(value, Tensor) or value.is_floating_point():
        return None
    given = [each.meta.get("val") if isinstance(each, Node) else each for each in node.args]
    operands = [each for each in given if isinstance(each, Tensor) or type(each) in (int, float)]
    if not any(isinstance(each, Tensor) and each.dim() for each in operands):
        return None
    kind = elementwise_dtypes(
        *operands, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    )[1]
    return kind if is_signed_integer(kind) else None


def is_signed_integer(kind: torch.dtype) -> bool:
    """Returns whether an element type is one of integers with a sign."""
    return kind.is_signed and not (kind.is_floating_point or kind.is_complex)


def _shifts() -> dict[Any, Callable[..., Any]]:
    found: dict[Any, Callable[..., Any]] = {}
    for name, by_name, sign in (
        ("left_shift", _ATEN.bitwise_left_shift, _ATEN.__lshift__),
        ("right_shift", _ATEN.bitwise_right_shift, _ATEN.__rshift__),
    ):
        for each in (by_name.Tensor, by_name.Tensor_Scalar, by_name.Scalar_Tensor):
            found[each] = partial(_shifted, name, by_name.Tensor)
        for each in (sign.Scalar, sign.Tensor):
            found[each] = partial(_shifted, name, by_name.Tensor)
    return found


def _shifted(name: str, operator: Any, x: Any, y: Any) -> Tensor:
    """By as many bits as an element has, or by less than 0, a number of the processor's choice
    would come out: none is left, or the sign alone.
    """
    kind = torch.result_type(x, y)
    if _IS_SHIFT_WITHIN.get() or kind is torch.bool:
        return NotImplemented
    if isinstance(y, int) and 0 <= y < torch.iinfo(kind).bits:
        with _within():
            return operator(x.to(kind), as_tensor(y, kind))
    return _of_two(name, as_tensor(x, kind), as_tensor(y, kind))


@contextmanager
def _within() -> Generator[None]:
    token = _IS_SHIFT_WITHIN.set(True)
    try:
        yield
    finally:
        _IS_SHIFT_WITHIN.reset(token)


def _of_two(kind: str, x: Tensor, y: Tensor) -> Tensor:
    common = torch.result_type(x, y)
    both = torch.broadcast_tensors(x.to(common), y.to(common))
    return OF_INTEGERS(both[0].contiguous(), both[1].contiguous(), kind)


def _neg(x: Tensor) -> Tensor:
    """torch-mlir multiplies integers by an f64, which rounds those of more than 53 bits."""
    if x.is_complex():
        return each_part(_ATEN.neg.default, x)
    return NotImplemented if x.is_floating_point() else torch.zeros_like(x) - x


def _nan_to_num(x: Tensor, *given: Any, **named: Any) -> Tensor:
    if x.is_complex():
        return each_part(_ATEN.nan_to_num.default, x, *given, **named)
    return NotImplemented if x.is_floating_point() else x.clone()


def _lcm(x: Tensor, y: Tensor) -> Tensor:
    divisor = _of_two("gcd", x, y)
    other = torch.where(divisor == 0, 1, divisor)
    return (torch.div(x.to(divisor.dtype), other, rounding_mode="trunc") * y).abs()


def emit_of_integers(kind: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """Emits what an element is made of."""
    if kind == "power":
        return math.ipowi(x, y)
    return _emit_gcd(x, y) if kind == "gcd" else _emit_shift(kind, x, y)


def _emit_shift(kind: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """A shift by less than 0 is one by more than there are bits, as an unsigned number is."""
    most = constant(y.type, ir.IntegerType(y.type).width - 1)
    least = arith.minui(y, most)
    if kind == "right_shift":
        return arith.shrsi(x, least)
    is_within = arith.cmpi(arith.CmpIPredicate.ule, y, most)
    return arith.select(is_within, arith.shli(x, least), constant(x.type, 0))


def _emit_gcd(x: ir.Value, y: ir.Value) -> ir.Value:
    """Euclid's algorithm. Of the least integer, whose magnitude wraps, as torch computes it."""
    integer = x.type
    zero = constant(integer, 0)
    loop = scf.WhileOp([integer] * 2, [math.absi(x), math.absi(y)])
    before = loop.before.blocks.append(integer, integer)
    with ir.InsertionPoint(before):
        goes_on = arith.cmpi(arith.CmpIPredicate.ne, before.arguments[0], zero)
        scf.condition(goes_on, list(before.arguments))
    after = loop.after.blocks.append(integer, integer)
    with ir.InsertionPoint(after):
        divisor, rest = after.arguments
        scf.yield_([arith.remsi(rest, divisor), divisor])
    return loop.results[1]

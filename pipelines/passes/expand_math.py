"""Expands math operations that upstream's GPU lowering leaves, breaks or rounds twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir, math
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import constant, each_element, element_type, like, rewrite_each

# Bits of the significand that are stored, by the format's name.
_SIGNIFICAND_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


@register
@dataclass(frozen=True)
class ExpandMath(Pass):
    """Prepares math operations for convert-gpu-to-nvvm.

    On f16 and bf16, upstream computes `absf`, `copysign` and `fma` in f32, where `fma` rounds
    twice and the sign of a NaN is lost. Here `fma` becomes LLVM's, and the others bit operations.

        %r = math.fma %a, %b, %c : f16

    becomes

        %r = llvm.intr.fma(%a, %b, %c) : (f16, f16, f16) -> f16

    `isinf` and `isnormal`, which convert-math-to-llvm does not know, become comparisons, of the
    value and of the bits. `sincos` on vectors goes element by element, for which libdevice has a
    function. The pass serves host code as well.
    """

    name: ClassVar[str] = "expand-math"
    subjects: ClassVar[tuple[str, ...]] = (
        *("math.absf", "math.copysign", "math.fma"),
        *("math.isinf", "math.isnormal", "math.sincos"),
    )

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(
            op,
            {
                "math.absf": _narrow_absf,
                "math.copysign": _narrow_copysign,
                "math.fma": _narrow_fma,
                "math.isinf": _is_infinite,
                "math.isnormal": _is_normal,
                "math.sincos": _sincos,
            },
        )


def _is_narrow(value_type: ir.Type) -> bool:
    return str(element_type(value_type)) in ("f16", "bf16")


def _narrow_absf(op: ir.Operation) -> Sequence[ir.Value] | None:
    value = op.operands[0]
    if not _is_narrow(value.type):
        return None
    return [arith.bitcast(value.type, _masked(value, 0x7FFF))]


def _narrow_copysign(op: ir.Operation) -> Sequence[ir.Value] | None:
    magnitude, sign = op.operands
    if not _is_narrow(magnitude.type):
        return None
    bits = arith.ori(_masked(magnitude, 0x7FFF), _masked(sign, 0x8000))
    return [arith.bitcast(magnitude.type, bits)]


def _masked(value: ir.Value, mask: int) -> ir.Value:
    """Returns the bits of a 16-bit float that `mask` keeps."""
    integer = like(value.type, ir.IntegerType.get_signless(16))
    return arith.andi(arith.bitcast(integer, value), constant(integer, mask))


def _narrow_fma(op: ir.Operation) -> Sequence[ir.Value] | None:
    result_type = op.results[0].type
    if not _is_narrow(result_type):
        return None

    def emit(*operands: ir.Value) -> Sequence[ir.Value]:
        return ir.Operation.create(
            "llvm.intr.fma", results=[operands[0].type], operands=list(operands)
        ).results

    if isinstance(result_type, ir.VectorType) and result_type.rank == 1:
        return emit(*op.operands)
    return each_element(emit, list(op.operands), [result_type])


def _is_infinite(op: ir.Operation) -> Sequence[ir.Value]:
    value = op.operands[0]
    negative, positive = (constant(value.type, sign * float("inf")) for sign in (-1, 1))
    equal = arith.CmpFPredicate.OEQ
    return [arith.ori(arith.cmpf(equal, value, negative), arith.cmpf(equal, value, positive))]


def _is_normal(op: ir.Operation) -> Sequence[ir.Value] | None:
    """The magnitude's bits lie between the smallest normal number's and infinity's."""
    value = op.operands[0]
    scalar = element_type(value.type)
    stored = _SIGNIFICAND_BITS.get(str(scalar))
    if stored is None or not isinstance(scalar, ir.FloatType):
        return None
    integer = like(value.type, ir.IntegerType.get_signless(scalar.width))
    magnitude_mask = (1 << (scalar.width - 1)) - 1
    smallest_normal = 1 << stored
    infinity = magnitude_mask & ~(smallest_normal - 1)
    bits = arith.bitcast(integer, value)
    magnitude = arith.andi(bits, constant(integer, magnitude_mask))
    above = arith.subi(magnitude, constant(integer, smallest_normal))
    limit = constant(integer, infinity - smallest_normal)
    return [arith.cmpi(arith.CmpIPredicate.ult, above, limit)]


def _sincos(op: ir.Operation) -> Sequence[ir.Value] | None:
    if not isinstance(op.results[0].type, ir.VectorType):
        return None

    def emit(angle: ir.Value) -> Sequence[ir.Value]:
        return math.SincosOp(angle, fastmath=op.attributes["fastmath"]).results

    return each_element(emit, list(op.operands), [result.type for result in op.results])

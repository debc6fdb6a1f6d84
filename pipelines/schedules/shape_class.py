"""What operations have in common that one configuration is good for: the key of a tuning."""

from __future__ import annotations

from collections.abc import Mapping

from ...dialects.hir.loop_operation import kind_of
from ...dialects.mlir import ir
from .configuration import Value, values_of
from .elements import ACCESS_BYTES, element_bytes
from .size import ONE, ZERO, Size
from .work import Operand, Work

# A module's attribute: the fields of configurations by classes of operations.
TUNING = "hir.tuning"
Tuning = Mapping[str, Mapping[str, Value]]


def shape_class(work: Work) -> str:
    """The class of an operation, in words that are the same on every machine.

    Of each loop it has whether something is combined along it, the power of two up to its extent
    and the one up to 16 that divides it; of each operand the element type, and how it lies along
    each loop; of the region what it combines, and how many operations it has by powers of two. A
    transposed copy of f32 is "p2^10/16 p2^9/16; in f32 1 a; out f32 a 1; 2^0".
    """
    loops = [loop for loop, extent in enumerate(work.extents) if extent != ONE]
    words = [
        " ".join(
            ("c" if loop in work.collective else "p") + _extent(work.extents[loop])
            for loop in loops
        )
    ]
    for operand in work.operands:
        where = "out" if operand.is_output else "in"
        strides = " ".join(_stride(operand, loop) for loop in loops)
        words.append(f"{where} {operand.element} {strides}".rstrip())
    words += sorted(f"{op.name} {kind_of(op)}" for op in work.collectives)
    words.append(_power(sum(1 for _ in work.block)))
    return "; ".join(words)


def read_tuning(module: ir.Operation) -> Tuning:
    """The tuning that was given with a module, which has it no longer."""
    if TUNING not in module.attributes:
        return {}
    found = ir.DictAttr(module.attributes[TUNING])
    del module.attributes[TUNING]
    return {each.name: values_of(ir.DictAttr(each.attr)) for each in found}


def _extent(extent: Size) -> str:
    if not extent.is_known:
        return "?"
    divisor = next(each for each in (16, 8, 4, 2, 1) if extent.known % each == 0)
    return f"{_power(extent.known)}/{divisor}"


def _stride(operand: Operand, loop: int) -> str:
    stride = operand.strides[loop]
    if not stride.is_known:
        return "?"
    if stride in (ZERO, ONE):
        return str(stride.known)
    is_aligned = stride.known * element_bytes(operand.element) % ACCESS_BYTES == 0
    return "a" if is_aligned else "u"


def _power(number: int) -> str:
    return f"2^{max(number, 1).bit_length() - 1}"

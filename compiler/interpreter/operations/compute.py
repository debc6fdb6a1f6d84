"""The elementwise operations: hir.unary, hir.binary, hir.ternary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.hir.element_types import ELEMENT_TYPES, ElementType
from ....dialects.hir.kinds import TERNARY
from ....dialects.mlir import ir
from .. import fault
from ..binary_kinds import BINARY_FUNCTIONS, DivisionByZero, clamp, fma
from ..buffer import Buffer
from ..convert import convert
from ..dtypes import element_type_of
from ..frame import Frame
from ..registry import interprets
from ..scalar_numbers import as_numbers
from ..shapes import broadcast_sizes, text_of
from ..torch_import import torch
from ..unary_kinds import UNARY_FUNCTIONS, UNSIGNED_FUNCTIONS

_OPERANDS = {"hir.unary": 1, "hir.binary": 2, "hir.ternary": 3}


@interprets("hir.unary", "hir.binary", "hir.ternary")
def elementwise(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Computes every element of the broadcast operands, then writes the destination."""
    operands = list(op.operands)[: _OPERANDS[op.name]]
    kind = ir.StringAttr(op.attributes["kind"]).value
    buffers = [
        frame.buffer(op, operand)
        for operand in operands
        if isinstance(frame.value(operand), Buffer)
    ]
    sizes = sizes_of(op, frame, buffers)
    destination = frame.destination(op, sizes, buffers, in_place=True)
    chosen = [ELEMENT_TYPES["i1"]] if kind == "where" and op.name == "hir.ternary" else []
    rest = operands[len(chosen) :]
    common = _common_element(frame, rest, destination)
    numbers = [
        _numbers(op, frame, operand, element)
        for operand, element in zip(operands, [*chosen, *[common] * len(rest)], strict=True)
    ]
    result = compute(op, kind, numbers, common, destination.element)
    frame.write(destination, result)
    return [destination] if len(op.results) else []


def compute(
    op: ir.Operation,
    kind: str,
    numbers: Sequence[torch.Tensor],
    element: ElementType,
    result: ElementType,
) -> torch.Tensor:
    """Returns the kind's function of numbers in their computing type."""
    if kind == "cast":
        return convert(numbers[0], element, result)
    if op.name == "hir.unary":
        unsigned = UNSIGNED_FUNCTIONS if element.kind == "unsigned" else {}
        return unsigned.get(kind, UNARY_FUNCTIONS[kind])(numbers[0])
    if op.name == "hir.binary":
        try:
            x, y = numbers
            return BINARY_FUNCTIONS[kind](x, y, element)
        except DivisionByZero:
            fault.fail(op, f"'{kind}' of integers divides by 0")
    assert kind in TERNARY
    if kind == "where":
        return torch.where(*numbers)
    x, y, z = numbers
    return fma(x, y, z) if kind == "fma" else clamp(x, y, z, element)


def sizes_of(op: ir.Operation, frame: Frame, buffers: Sequence[Buffer]) -> tuple[int, ...]:
    """Returns the sizes of an elementwise result: those that the operands broadcast to.

    Scalars alone are computed for each element of the destination.
    """
    if not buffers and not len(op.results):
        return frame.buffer(op, op.operands[len(op.operands) - 1]).sizes
    sizes = broadcast_sizes([buffer.sizes for buffer in buffers])
    if sizes is None:
        shown = " and ".join(f"{text_of(buffer.sizes)} ({buffer.name})" for buffer in buffers)
        fault.fail(
            op,
            f"the operands do not broadcast: {shown}",
            hint="sizes are compared from the last dim; they are equal, or one of them is 1",
        )
    return sizes


def _common_element(frame: Frame, operands: Sequence[ir.Value], destination: Buffer) -> ElementType:
    """Returns the element type that the operands are computed in: the buffers', else the
    destination's.
    """
    for operand in operands:
        value = frame.value(operand)
        if isinstance(value, Buffer):
            return value.element
    scalar = element_type_of(operands[0].type)
    is_truth = destination.element.kind == "truth"
    return scalar if is_truth and scalar is not None else destination.element


def _numbers(
    op: ir.Operation, frame: Frame, operand: ir.Value, element: ElementType
) -> torch.Tensor:
    value = frame.value(operand)
    if isinstance(value, Buffer):
        return frame.read(op, value)
    return as_numbers(value, operand.type, element, frame.interpreter.device)

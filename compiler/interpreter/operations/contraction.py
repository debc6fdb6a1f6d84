"""hir.matmul and hir.linear."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..frame import Frame
from ..registry import interprets
from ..shapes import broadcast_sizes, text_of
from ..torch_import import torch


@interprets("hir.matmul")
def matmul(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    x, y = (frame.buffer(op, operand) for operand in list(op.operands)[:2])
    batch = broadcast_sizes([x.sizes[:-2], y.sizes[:-2]])
    if batch is None or x.sizes[-1] != y.sizes[-2]:
        _mismatch(op, x, y, "(..., m, k) and (..., k, n)")
    destination = frame.destination(op, [*batch, x.sizes[-2], y.sizes[-1]], [x, y])
    frame.write(destination, _product(frame.read(op, x), frame.read(op, y)))
    return [destination] if len(op.results) else []


@interprets("hir.linear")
def linear(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    operands = list(op.operands)
    inputs = operands if len(op.results) else operands[:-1]
    buffers = [frame.buffer(op, operand) for operand in inputs]
    x, weight = buffers[:2]
    if x.sizes[-1] != weight.sizes[1]:
        _mismatch(op, x, weight, "(..., k) and (n, k)")
    destination = frame.destination(op, [*x.sizes[:-1], weight.sizes[0]], buffers)
    rows = frame.read(op, x)
    lead = prod(rows.shape[:-1])
    result = _product(rows.reshape(lead, rows.shape[-1]), frame.read(op, weight).T)
    result = result.reshape(destination.sizes)
    if len(buffers) == 3:
        bias = buffers[2]
        if bias.sizes != (weight.sizes[0],):
            _mismatch(op, bias, weight, "(n) and (n, k)")
        result = result + frame.read(op, bias)
    frame.write(destination, result)
    return [destination] if len(op.results) else []


def _product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Returns the product, in the type that is computed in; GPUs have none of integers in torch."""
    if x.is_floating_point():
        return torch.matmul(x, y)
    return torch.matmul(x.cpu(), y.cpu()).to(x.device)


def _mismatch(op: ir.Operation, x: Buffer, y: Buffer, expected: str) -> NoReturn:
    fault.fail(
        op,
        f"{text_of(x.sizes)} ({x.name}) and {text_of(y.sizes)} ({y.name}) cannot be multiplied: "
        f"expected {expected}",
    )

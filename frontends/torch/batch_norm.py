"""Batch norms by statistics that are given, each as two operations of linalg.

torch makes each of twenty operators, which takes longer to trace than all else of a network that is
made of convolutions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.fx import Node

from ...dialects.mlir import arith, ir, math
from ...pipelines.rewriting import constant
from .philox import emit_each_element, room_like
from .refusals import nodes_of

_ATEN = torch.ops.aten
_LIBRARY = torch.library.Library("hirc", "FRAGMENT")
_LIBRARY.define(
    "batch_norm(Tensor x, Tensor mean, Tensor variance, Tensor? weight, Tensor? bias, float eps) "
    "-> Tensor"
)


def _empty(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Tensor:
    return torch.empty_like(x)


_LIBRARY.impl("batch_norm", _empty, "CompositeExplicitAutograd")
# (x - mean) / sqrt(variance + eps) * weight + bias, of which all but x have one number a channel.
BATCH_NORM = torch.ops.hirc.batch_norm.default
_CHANNELS = 1


@contextmanager
def batch_norms_as_operators(program: ExportedProgram) -> Generator[None]:
    """Within a `with` block, makes batch norms that take the statistics that they are given
    operators of their own. The program may be the user's, who gets it back as it was.
    """
    found = [
        (node, node.args, node.kwargs, given)
        for node in nodes_of(program)
        if node.target is _ATEN.batch_norm.default and (given := _by_given_statistics(node))
    ]
    for node, _, _, given in found:
        node.target, node.args, node.kwargs = BATCH_NORM, given, {}
    try:
        _recompile(node for node, *_ in found)
        yield
    finally:
        for node, args, kwargs, _ in found:
            node.target, node.args, node.kwargs = _ATEN.batch_norm.default, args, kwargs
        _recompile(node for node, *_ in found)


def _recompile(nodes: Iterable[Node]) -> None:
    for module in {node.graph.owning_module for node in nodes}:
        if module is not None:
            module.recompile()


def _by_given_statistics(node: Node) -> tuple[Any, ...] | None:
    """Returns the arguments of the operator; None of a norm that computes its statistics."""
    x, weight, bias, mean, variance, training, _, eps, _ = _given(node)
    values = [each.meta.get("val") for each in (x, mean, variance) if isinstance(each, Node)]
    if training is not False or not isinstance(eps, float) or len(values) != 3:
        return None
    if not all(isinstance(each, Tensor) and each.is_floating_point() for each in values):
        return None
    return x, mean, variance, weight, bias, eps


def _given(node: Node) -> list[Any]:
    schema = _ATEN.batch_norm.default._schema  # pyright: ignore[reportPrivateUsage]
    names = [each.name for each in schema.arguments]
    by_name = dict(zip(names, node.args, strict=False)) | node.kwargs
    return [by_name[name] for name in names]


def emit_batch_norm(
    arguments: Sequence[ir.Value], result: ir.RankedTensorType, *, has_weight: bool, eps: float
) -> ir.Value:
    """Emits the norm of x by mean, variance, and a weight and a bias if there are such.

    A channel's factor is computed once, not for each element.
    """
    x, mean, variance, *more = arguments
    weight, bias = more[:1] if has_weight else [], more[1:] if has_weight else more
    kind = _widest(arguments)

    def factor(elements: Sequence[ir.Value]) -> ir.Value:
        variance, *weight = (_as(kind, each) for each in elements)
        root = math.sqrt(arith.addf(variance, constant(kind, eps)))
        inverse = arith.divf(constant(kind, 1), root)
        return arith.mulf(inverse, weight[0]) if weight else inverse

    def normed(elements: Sequence[ir.Value]) -> ir.Value:
        x, mean, factor, *bias = (_as(kind, each) for each in elements)
        value = arith.mulf(arith.subf(x, mean), factor)
        return _as(result.element_type, arith.addf(value, bias[0]) if bias else value)

    channels = ir.RankedTensorType.get(ir.RankedTensorType(variance.type).shape, kind)
    factors = emit_each_element([variance, *weight], room_like(variance, channels), factor)
    of_channels = [mean, factors, *bias]
    dims = [[*range(result.rank)], *([_CHANNELS] for _ in of_channels)]
    return emit_each_element([x, *of_channels], room_like(x, result), normed, dims=dims)


def _widest(arguments: Sequence[ir.Value]) -> ir.FloatType:
    """Returns what is computed with: f64 where it is among the elements' types, f32 for others."""
    widths = [ir.FloatType(ir.RankedTensorType(each.type).element_type).width for each in arguments]
    return ir.F64Type.get() if max(widths) > 32 else ir.F32Type.get()


def _as(kind: ir.Type, value: ir.Value) -> ir.Value:
    if value.type == kind:
        return value
    is_wider = ir.FloatType(kind).width > ir.FloatType(value.type).width
    return arith.extf(kind, value) if is_wider else arith.truncf(kind, value)

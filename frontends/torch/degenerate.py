"""Tensors without dims or elements, which torch-mlir refuses or which end its process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from .refusals import nodes_of

_ATEN = torch.ops.aten
# Operators that torch computes along dim 0 of a tensor without dims.
_ALONG_A_DIM = (
    *(_ATEN.amax.default, _ATEN.amin.default, _ATEN.argmax.default, _ATEN.argmin.default),
    *(_ATEN.max.dim, _ATEN.min.dim, _ATEN.mode.default, _ATEN.gather.default),
    *(_ATEN.cumprod.default, _ATEN.cumsum.default, _ATEN.index_reduce.default),
    *(_ATEN.logsumexp.default, _ATEN.softmax.int, _ATEN._softmax.default),
    *(_ATEN.mean.dim, _ATEN.var.correction, _ATEN.var_mean.correction),
    *(_ATEN.prod.dim_int, _ATEN.any.dim, _ATEN.all.dim, _ATEN.flip.default),
)


def without_dims(known: Mapping[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Returns operators along a dim that take a tensor without dims as one of one element.

    Other tensors are for the decomposition in `known`, if there is one.
    """
    return {
        operator: partial(_of_one_element, operator, known.get(operator))
        for operator in _ALONG_A_DIM
    }


def _of_one_element(
    operator: OpOverload, known: Callable[..., Any] | None, x: Tensor, *given: Any, **named: Any
) -> Any:
    if x.dim():
        return NotImplemented if known is None else known(x, *given, **named)
    others = pytree.tree_map_only(Tensor, lambda each: each.reshape(-1), given)
    found = operator(x.unsqueeze(0), *others, **named)
    return pytree.tree_map_only(Tensor, lambda each: each.reshape(()), found)


def fill_what_is_empty(program: ExportedProgram) -> None:
    """Replaces each tensor that is known to have no elements by an empty one without operands."""
    for node in nodes_of(program):
        value = node.meta.get("val")
        if not isinstance(node.target, OpOverload) or not isinstance(value, Tensor):
            continue
        sizes: list[int | SymInt] = list(value.shape)
        if any(isinstance(size, SymInt) for size in sizes):
            continue
        if 0 in sizes and node.target is not _ATEN.full.default:
            node.target, node.args = _ATEN.full.default, (sizes, 0)
            node.kwargs = {"dtype": value.dtype, "device": value.device}
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            module.graph.eliminate_dead_code()
            module.recompile()

"""Attention as two products of the unscaled operands, with a softmax in f32 between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from .halves import widened

_ATEN = torch.ops.aten
_LANES = 4  # batch, head, query, key


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Returns attention as two products of the operands, with a softmax in f32 between them.

    The arguments are those of scaled_dot_product_attention, with dims (..., head, row, width).
    torch's own decomposition scales both operands of the first product, in f32. Query heads that
    share a head of the keys become rows of one matrix.
    """
    if query.dim() < 2:
        return NotImplemented
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    groups = _groups(query, key) if enable_gqa else 1
    if enable_gqa and _groups(query, value) != groups:
        # A head of the keys serves another number of query heads than one of the values.
        key, value = (each.repeat_interleave(_groups(query, each), -3) for each in (key, value))
        groups = 1
    scores = _scores(query, key, groups) * scale
    if is_causal:
        here = torch.arange(query.shape[-2], device=query.device).unsqueeze(-1)
        seen = torch.arange(key.shape[-2], device=query.device) <= here
        weights = torch.where(seen, scores, -math.inf).softmax(-1)
    elif attn_mask is None:
        weights = scores.softmax(-1)
    elif attn_mask.dtype == torch.bool:
        weights = _softmax_of_masked(torch.where(attn_mask, scores, -math.inf))
    else:
        weights = _softmax_of_masked(scores + attn_mask)
    if dropout_p:
        weights = torch.dropout(weights, dropout_p, train=True)
    return _weighed(weights, value, groups).to(query.dtype)


def _groups(query: Tensor, shared: Tensor) -> int:
    """Returns how many query heads share one head of the keys or values."""
    heads, others = query.shape[-3], shared.shape[-3]
    return 1 if heads == others else heads // others


def _scores(query: Tensor, key: Tensor, groups: int) -> Tensor:
    wide = widened(query)
    if groups == 1:
        return wide @ widened(key).mT
    shape = query.shape
    grouped = wide.reshape(*shape[:-3], key.shape[-3], -1, shape[-1])
    return (grouped @ widened(key).mT).reshape(*shape[:-1], key.shape[-2])


def _weighed(weights: Tensor, value: Tensor, groups: int) -> Tensor:
    shape = weights.shape
    weights = widened(weights.to(value.dtype))
    if groups == 1:
        return weights @ widened(value)
    grouped = weights.reshape(*shape[:-3], value.shape[-3], -1, shape[-1])
    return (grouped @ widened(value)).reshape(*shape[:-1], value.shape[-1])


def _softmax_of_masked(scores: Tensor) -> Tensor:
    """Returns a softmax that is 0 in rows of -inf only, as in torch's attention."""
    most = scores.amax(-1, keepdim=True)
    powers = (scores - torch.where(most == -math.inf, 0.0, most)).exp()
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total == 0, 1.0, total)


def flexible_attention_as_products(program: ExportedProgram) -> None:
    """Replaces `torch.nn.attention.flex_attention` by a function that decompositions can trace.

    The graphs that modify and mask scores compute one score each. The blocks of a block mask are
    not needed: its function gives the same mask.
    """
    root = program.graph_module
    for node in [*root.graph.nodes]:
        if node.target is not torch.ops.higher_order.flex_attention:
            continue
        given: Any = node.args
        query, key, value, modify, block_mask, scale, _, *others = given
        functions = [getattr(root, str(each.target)) for each in (modify, block_mask[-1])]
        for each in functions:
            _index_by_operators(each)
        node.target = _attention_of(*functions)
        node.args = (query, key, value, scale, *others)
    root.recompile()


def _index_by_operators(module: GraphModule) -> None:
    """Replaces Python functions that read elements, in the graph of a score, by an operator."""
    for node in [*module.graph.nodes]:
        if node.target is not torch.ops.higher_order.flat_apply:
            continue
        x, *places = (each for each in node.args[2:] if isinstance(each, Node))
        with module.graph.inserting_before(node):
            made = module.graph.call_function(_ATEN.index.Tensor, (x, places))
        made.meta.update(node.meta)
        node.replace_all_uses_with(made)
        module.graph.erase_node(node)
    module.recompile()


def _attention_of(modify: GraphModule, mask: GraphModule) -> Callable[..., Any]:
    """Returns the function of attention whose scores one graph modifies and another masks."""

    def flexible_attention(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float,
        modifies_by: Sequence[Tensor] = (),
        masks_by: Sequence[Tensor] = (),
    ) -> tuple[Tensor, Tensor, Tensor]:
        groups = _groups(query, key)
        scores = _scores(query, key, groups) * scale
        places = [torch.arange(size, device=query.device) for size in scores.shape]
        with TransformGetItemToIndex():
            modified = _of_each(modify, 1, len(modifies_by))(scores, *places, *modifies_by)
            seen = _of_each(mask, 0, len(masks_by))(*places, *masks_by)
        modified = torch.where(seen, modified.to(scores.dtype), -math.inf)
        weights = _softmax_of_masked(modified)
        # Logarithms to base 2, as torch's kernels return.
        sums, most = (each / math.log(2) for each in (modified.logsumexp(-1), modified.amax(-1)))
        attended = _weighed(weights.to(query.dtype), value.to(query.dtype), groups)
        return attended.to(query.dtype), sums, most

    return flexible_attention


def _of_each(function: Any, scores: int, others: int) -> Any:
    """Returns a function of one score and its four indices, mapped over all scores."""
    for lane in reversed(range(_LANES)):
        places = tuple(0 if each == lane else None for each in range(_LANES))
        function = torch.vmap(function, in_dims=(0,) * scores + places + (None,) * others)
    return function

"""Numbers with a fraction that a model computes from open sizes, as tensors of f64 without dims."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import SymFloat, SymInt, Tensor
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from ...compiler.errors import UnsupportedError
from .user_errors import stack_position

_ATEN = torch.ops.aten
_ROOT = math.sqrt
_ROOT_OF_SIZE: Any = vars(torch)["_sym_sqrt"]
# What is computed of two numbers.
_OF_TWO: dict[Any, Any] = {
    operator.truediv: _ATEN.div.Tensor,
    operator.mul: _ATEN.mul.Tensor,
    operator.add: _ATEN.add.Tensor,
    operator.sub: _ATEN.sub.Tensor,
    operator.pow: _ATEN.pow.Tensor_Tensor,
}
_OF_ONE: dict[Any, Any] = {
    operator.neg: _ATEN.neg.default,
    _ROOT_OF_SIZE: _ATEN.sqrt.default,
}
# Operators of tensors and numbers, and the same of tensors alone.
_OF_TENSORS: dict[Any, Any] = {
    **{
        each: each
        for each in (_ATEN.mul.Tensor, _ATEN.div.Tensor, _ATEN.add.Tensor, _ATEN.sub.Tensor)
    },
    **{
        getattr(_ATEN, name).Scalar: getattr(_ATEN, name).Tensor
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "masked_fill", "fmod", "remainder")
    },
    _ATEN.clamp.default: _ATEN.clamp.Tensor,
    _ATEN.clamp_min.default: _ATEN.clamp_min.Tensor,
    _ATEN.clamp_max.default: _ATEN.clamp_max.Tensor,
    _ATEN.pow.Tensor_Scalar: _ATEN.pow.Tensor_Tensor,
    _ATEN.pow.Scalar: _ATEN.pow.Tensor_Tensor,
    _ATEN.where.ScalarSelf: _ATEN.where.self,
    _ATEN.where.ScalarOther: _ATEN.where.self,
}
# Which of the arguments of these is what a tensor is filled with.
_FILLING: dict[Any, int] = {
    _ATEN.full.default: 1,
    _ATEN.scalar_tensor.default: 0,
    _ATEN.new_full.default: 2,
    _ATEN.full_like.default: 1,
}


def root(x: Any) -> Any:
    """Returns Python's root of a number, and of an open size one that stays open."""
    if isinstance(x, (SymInt, SymFloat)):
        return _ROOT_OF_SIZE(torch.sym_float(x))
    return _ROOT(x)


def fractions_as_tensors(program: ExportedProgram) -> None:
    """Takes operators of tensors alone where one is given such a number.

    Raises UnsupportedError where an operator takes it as a number alone, unless it is a quotient of
    whole numbers, which torch-mlir knows.
    """
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            _of_graph(module)


def _of_graph(module: GraphModule) -> None:
    known: dict[Node, Node] = {}
    for node in [*module.graph.nodes]:
        if node.op != "call_function" or not any(map(_is_fraction, node.all_input_nodes)):
            continue
        if _is_fraction(node) or not isinstance(node.meta.get("val"), Tensor):
            continue
        with module.graph.inserting_before(node):
            _replace(node, known)
    # Not all that seems dead is: what enters and leaves torch.vmap has no users.
    for node in reversed([*module.graph.nodes]):
        if _is_fraction(node) and not node.users:
            module.graph.erase_node(node)
    for node in module.graph.nodes:
        given = [each for each in node.all_input_nodes if _is_fraction(each)]
        if not _is_fraction(node) and not all(map(_is_quotient, given)):
            raise _error(node)
    module.recompile()


def _error(node: Node) -> UnsupportedError:
    name = getattr(node.target, "__name__", str(node.target))
    return UnsupportedError(
        f"'{name}' takes no number with a fraction that is computed from an open size",
        position=stack_position(node.meta.get("stack_trace") or ""),
        op=str(node.target),
        stage="import",
        hint="divide whole numbers with //, or make a tensor of the number",
    )


def _is_fraction(node: Any) -> bool:
    return isinstance(node, Node) and isinstance(node.meta.get("val"), SymFloat)


def _is_quotient(node: Node) -> bool:
    return node.target is operator.truediv and not any(map(_is_fraction, node.all_input_nodes))


def _is_tensor(node: Any) -> bool:
    return isinstance(node, Node) and isinstance(node.meta.get("val"), Tensor)


def _replace(node: Node, known: dict[Node, Node]) -> None:
    graph = node.graph
    target: Any = node.target
    if target in _FILLING:
        place, value = _FILLING[target], node.meta["val"]
        given: list[Any] = [*node.args]
        filled = _cast(graph, _tensor(graph, given[place], known), value.dtype)
        given[place] = 0
        node.args = tuple(given)
        node.kwargs = {**node.kwargs, "dtype": value.dtype}
        with graph.inserting_after(node):
            whole = graph.call_function(_ATEN.add.Tensor, (node, filled))
        whole.meta["stack_trace"] = node.meta.get("stack_trace")
        whole.meta["val"] = value
        node.replace_all_uses_with(whole, delete_user_cb=lambda user: user is not whole)
        return
    if target is _ATEN.rsub.Scalar and len(node.args) == 2:
        node.target, node.args = _ATEN.sub.Tensor, tuple(reversed(node.args))
    elif target in _OF_TENSORS:
        node.target = _OF_TENSORS[target]
    else:
        return
    tensors = [each.meta["val"] for each in node.all_input_nodes if _is_tensor(each)]
    # A number has the type of tensors with fractions, and the default one beside others.
    kinds = [each.dtype for each in tensors if each.dtype.is_floating_point]
    kind = kinds[0] if kinds else torch.get_default_dtype()
    is_of_tensors = target is not node.target or target is _ATEN.rsub.Scalar
    node.args = tuple(_argument(node, each, kind, known, is_of_tensors) for each in node.args)
    named: Mapping[str, Any] = node.kwargs
    node.kwargs = {
        name: _argument(node, each, kind, known, is_of_tensors) if name in ("min", "max") else each
        for name, each in named.items()
    }


def _argument(
    node: Node, value: Any, kind: torch.dtype, known: dict[Node, Node], is_of_tensors: bool
) -> Any:
    if _is_fraction(value):
        return _cast(node.graph, _tensor(node.graph, value, known), kind)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_of_tensors or not (is_number or _is_size(value)):
        return value
    return node.graph.call_function(_ATEN.full.default, ([], value), {"dtype": kind})


def _is_size(node: Any) -> bool:
    return isinstance(node, Node) and isinstance(node.meta.get("val"), SymInt)


def _cast(graph: Any, node: Node, kind: torch.dtype) -> Node:
    return graph.call_function(_ATEN._to_copy.default, (node,), {"dtype": kind})


def _tensor(graph: Any, value: Any, known: dict[Node, Node]) -> Node:
    """Returns the tensor that holds a number, computed where the number was."""
    if not _is_fraction(value):
        return graph.call_function(_ATEN.full.default, ([], value), {"dtype": torch.float64})
    if value in known:
        return known[value]
    target: Any = value.target
    with graph.inserting_after(value):
        if target is torch.sym_float:
            made = graph.call_function(
                _ATEN.full.default, ([], value.args[0]), {"dtype": torch.float64}
            )
        elif target in _OF_ONE or target in _OF_TWO:
            made = graph.call_function({**_OF_ONE, **_OF_TWO}[target], value.args)
        else:
            raise _error(value)
    if target is not torch.sym_float:
        with graph.inserting_before(made):
            made.args = tuple(_tensor(graph, each, known) for each in value.args)
    made.meta["stack_trace"] = value.meta.get("stack_trace")
    known[value] = made
    return made

"""Brings numbers that a model computes from open sizes into a form that torch-mlir lowers.

Fractions that tensor operators take become tensors of f64 without dims. Fractions that are rounded
to whole numbers again are computed as numbers on the host.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import SymFloat, SymInt, Tensor, TensorType
from torch._guards import detect_fake_mode
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.node import map_aggregate
from torch.fx.passes.shape_prop import (
    _extract_tensor_metadata,  # pyright: ignore[reportPrivateUsage]
)

from ...compiler.errors import UnsupportedError
from .user_errors import stack_position

_ATEN = torch.ops.aten
_ELEMENT = _ATEN._local_scalar_dense.default
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
# torch-mlir's operations on fractions.
_OF_TWO_NUMBERS: dict[Any, Any] = {
    operator.truediv: _ATEN.div.float,
    operator.mul: _ATEN.mul.float,
    operator.add: _ATEN.add.float,
    operator.sub: _ATEN.sub.float,
}
# Of these torch-mlir takes the second argument as a number.
_TAKE_NUMBERS: tuple[Any, ...] = (
    *(_ATEN.mul.Tensor, _ATEN.div.Tensor, _ATEN.add.Tensor, _ATEN.sub.Tensor),
    _ATEN.floor_divide.default,
)
_TRUNCATING = (math.trunc, torch.sym_int, int)
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


def fractions_as_tensors(program: ExportedProgram, *, with_quotients: bool = True) -> None:
    """Replaces tensor operators that take a fraction as a number by operators that take a tensor.

    torch-mlir lowers quotients of whole numbers: without `with_quotients`, tensor operators keep
    them as numbers.
    Raises UnsupportedError where an operator takes any other fraction only as a number.
    """
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            _of_graph(module, with_quotients)


def numbers_as_operations(program: ExportedProgram) -> None:
    """Replaces Python's arithmetic by torch-mlir's operations, and open numbers that stand where
    operators take tensors by tensors. Raises UnsupportedError.
    """
    for module in program.graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        for node in [*module.graph.nodes]:
            if isinstance(node.target, OpOverload) and isinstance(node.meta.get("val"), Tensor):
                _fill_numbers(node, node.target)
        _value_new(module)
        for node in [*module.graph.nodes]:
            if node.target is operator.mod:
                _take_remainder(node)
            elif node.target is torch.sym_ite:
                _count(node)
            elif _is_whole(node) and any(map(_is_fraction, node.all_input_nodes)):
                _round(node, {})
        for node in reversed([*module.graph.nodes]):
            if _is_fraction(node) and not node.users:
                module.graph.erase_node(node)
        module.recompile()


def _fill_numbers(node: Node, operator: OpOverload) -> None:
    """Makes tensors of a node's open numbers, of the type that they count for beside tensors."""
    kinds = [each.meta["val"].dtype for each in node.all_input_nodes if _is_tensor(each)]
    given = [*node.args]
    schema: Any = vars(operator)["_schema"]
    for place, (each, said) in enumerate(zip(given, schema.arguments, strict=False)):
        is_number = (_is_fraction(each) or _is_size(each)) and isinstance(said.type, TensorType)
        if not is_number or (place == 1 and operator in _TAKE_NUMBERS):
            continue
        fits = [kind for kind in kinds if kind.is_floating_point]
        kind = torch.get_default_dtype()
        if _is_size(each):
            fits = fits or [kind for kind in kinds if kind is not torch.bool]
            kind = torch.int64
        with node.graph.inserting_before(node):
            given[place] = node.graph.call_function(
                _ATEN.full.default, ([], each), {"dtype": fits[0] if fits else kind}
            )
    node.args = tuple(given)


def _take_remainder(node: Node) -> None:
    """Replaces a remainder by x - x // y * y, which has the sign of the divisor as in Python."""
    graph, (x, y) = node.graph, node.args
    with graph.inserting_before(node):
        quotient = _like(node, graph.call_function(operator.floordiv, (x, y)))
        whole = _like(node, graph.call_function(operator.mul, (quotient, y)))
    node.target, node.args = operator.sub, (x, whole)


def _count(node: Node) -> None:
    """Replaces `1 if mask.item() else 0`, which torch makes of conditions that it checks."""
    graph, (condition, *values) = node.graph, node.args
    if values != [1, 0] or not isinstance(condition, Node) or condition.target is not _ELEMENT:
        return
    mask: Any = condition.args[0]
    with graph.inserting_before(node):
        number = graph.call_function(_ATEN._to_copy.default, (mask,), {"dtype": torch.int64})
    number.meta["val"] = found = mask.meta["val"].to(torch.int64)
    number.meta["tensor_meta"] = _extract_tensor_metadata(found)
    node.target, node.args = _ELEMENT, (number,)


def _round(node: Node, known: dict[Node, Node]) -> None:
    """Rounds a fraction to a whole number: down, up or towards 0. Raises UnsupportedError."""
    graph, target = node.graph, node.target
    if target not in (*_TRUNCATING, math.floor, math.ceil):
        raise _error(node)
    with graph.inserting_before(node):
        number = _number(node.args[0], known)
        if target is math.floor:
            minus = graph.call_function(_ATEN.neg.float, (number,))
            above = graph.call_function(_ATEN.ceil.float, (_like(node.args[0], minus),))
            number = _like(node, above)
    node.args = (number,)
    node.target = operator.neg if target is math.floor else _ATEN.ceil.float
    if target in _TRUNCATING:
        node.target = _ATEN.Int.Scalar


def _number(value: Any, known: dict[Node, Node]) -> Any:
    """Returns a fraction as torch-mlir's operations, which it adds at the insertion point."""
    if isinstance(value, (int, float)):
        return float(value)
    if value in known:
        return known[value]
    graph = value.graph
    if not _is_fraction(value):
        made = graph.call_function(_ATEN.Float.Scalar, (value,))
        made.meta["val"] = torch.sym_float(value.meta["val"])
    elif value.target is torch.sym_float:
        made = _like(value, graph.call_function(_ATEN.Float.Scalar, value.args))
    elif value.target in _OF_TWO_NUMBERS:
        given = tuple(_number(each, known) for each in value.args)
        made = _like(value, graph.call_function(_OF_TWO_NUMBERS[value.target], given))
    else:
        raise _error(value)
    known[value] = made
    return made


def _like(node: Any, made: Node) -> Node:
    """Gives a node the type and source location of another, and returns it."""
    made.meta = {key: node.meta[key] for key in ("val", "stack_trace") if key in node.meta}
    return made


def _is_whole(node: Node) -> bool:
    return node.op == "call_function" and _is_size(node)


def _of_graph(module: GraphModule, with_quotients: bool) -> None:
    known: dict[Node, Node] = {}
    for node in [*module.graph.nodes]:
        given = [each for each in node.all_input_nodes if _is_fraction(each)]
        if node.op != "call_function" or _is_fraction(node) or not given:
            continue
        if not isinstance(node.meta.get("val"), Tensor):
            continue
        if not with_quotients and all(map(_is_quotient, given)):
            continue
        with module.graph.inserting_before(node):
            _replace(node, known)
    # Not all that seems dead is: what enters and leaves torch.vmap has no users.
    for node in reversed([*module.graph.nodes]):
        if _is_fraction(node) and not node.users:
            module.graph.erase_node(node)
    for node in module.graph.nodes:
        given = [each for each in node.all_input_nodes if _is_fraction(each)]
        if not (_is_fraction(node) or _is_size(node) or all(map(_is_quotient, given))):
            raise _error(node)
    _value_new(module)
    module.recompile()


def _value_new(module: GraphModule) -> None:
    """Gives the nodes that this module added their fake values."""
    vals = [node.meta["val"] for node in module.graph.nodes if "val" in node.meta]
    mode = detect_fake_mode(vals)
    if mode is None:
        return
    for node in module.graph.nodes:
        if node.op != "call_function" or "val" in node.meta:
            continue
        given = [map_aggregate(each, _value) for each in (node.args, node.kwargs)]
        with mode:
            node.meta["val"] = node.target(*given[0], **given[1])


def _value(argument: Any) -> Any:
    return argument.meta["val"] if isinstance(argument, Node) else argument


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

"""Unsigned elements: torch-mlir takes them for signed ones, and so the program has their bits.

What only moves elements moves bits. All else computes in a wider signed type, which every such
element fits into: what it takes is extended by zeros, what it gives is cut off again.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch._ops import HigherOrderOperator
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, TensorArgument
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from ...compiler.errors import UnsupportedError
from .user_errors import stack_position

_LIBRARY = torch.library.Library("hirc", "FRAGMENT")
_LIBRARY.define("extend(Tensor x, ScalarType dtype) -> Tensor")


def _empty(x: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.empty_like(x, dtype=dtype)


_LIBRARY.impl("extend", _empty, "CompositeExplicitAutograd")
# Elements in a wider type, extended by zeros.
EXTEND = torch.ops.hirc.extend.default

# The signed type with the same bits, and one that all values fit into.
_BITS = {torch.uint8: torch.int8, torch.uint16: torch.int16, torch.uint32: torch.int32}
_WIDE = {torch.uint8: torch.int32, torch.uint16: torch.int32, torch.uint32: torch.int64}

_ATEN = torch.ops.aten
_PRIMS = torch.ops.prims
# What gives elements of its tensors, and looks at none. All of its tensors have them, or those of
# the numbers.
_ALL: tuple[int, ...] = ()
_MOVES: dict[Any, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            *(_ATEN.view.default, _ATEN._unsafe_view.default, _ATEN.reshape.default),
            *(_ATEN.permute.default, _ATEN.transpose.int, _ATEN.t.default, _ATEN.expand.default),
            *(_ATEN.slice.Tensor, _ATEN.select.int, _ATEN.squeeze.default, _ATEN.squeeze.dim),
            *(_ATEN.squeeze.dims, _ATEN.unsqueeze.default, _ATEN.clone.default),
            *(_ATEN.alias.default, _ATEN.detach.default, _ATEN.cat.default, _ATEN.stack.default),
            *(_ATEN.slice_scatter.default, _ATEN.select_scatter.default, _ATEN.flip.default),
            *(_ATEN.split_with_sizes.default, _ATEN.unbind.int, _ATEN.repeat.default),
            *(_ATEN.copy.default, _ATEN.as_strided.default, _ATEN.diagonal.default),
            *(_PRIMS.collapse.default, _PRIMS.split_dim.default),
        ),
        _ALL,
    ),
    **dict.fromkeys(
        (
            *(_ATEN.index.Tensor, _ATEN.index_select.default, _ATEN.gather.default),
            *(_ATEN.embedding.default, _ATEN.masked_select.default),
        ),
        (0,),
    ),
    _ATEN.scatter.src: (0, 3),
    _ATEN.where.self: (1, 2),
}
# Of bytes as indices torch takes some for truths.
_INDEXED = (_ATEN.index.Tensor, _ATEN.index_put.default, _ATEN._unsafe_index.Tensor)

# In a node's meta: the unsigned type that it had; of several results the types of each.
_TYPE, _TYPES = "unsigned", "unsigned_each"


def without_unsigned(program: ExportedProgram) -> set[str]:
    """Makes elements of 8 to 32 bits without a sign those of signed types with the same bits.

    Returns the names of the inputs that had such elements, and of the nodes of such outputs.
    """
    found = {
        node.name
        for node in program.graph.nodes
        if node.op == "placeholder" and _is_unsigned(node.meta.get("val"))
    }
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            changed = [_rewrite(module, node) for node in [*module.graph.nodes]]
            if any(changed):
                module.recompile()
    signature = program.graph_signature
    for spec in signature.input_specs:
        if spec.kind is InputKind.CONSTANT_TENSOR and spec.target in program.constants:
            value: Any = program.constants[spec.target]
            program.constants[spec.target] = _bits_of(value) if _is_unsigned(value) else value
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    given: Any = output.args[0]
    for spec, value in zip(signature.output_specs, given, strict=True):
        if isinstance(spec.arg, TensorArgument):
            spec.arg = TensorArgument(value.name)
            if _TYPE in value.meta:
                found.add(value.name)
    return found


def _is_unsigned(value: object) -> bool:
    return isinstance(value, Tensor) and value.dtype in _BITS


def _bits_of(value: Any) -> Any:
    return value.view(_BITS[value.dtype]) if _is_unsigned(value) else value


def _signed(value: Any) -> Any:
    """Returns the fake values of what has the bits."""

    def signed(each: Any) -> Any:
        return each.to(_BITS[each.dtype]) if _is_unsigned(each) else each

    return pytree.tree_map(signed, value)


def _type_of(value: Any) -> torch.dtype | None:
    return value.dtype if _is_unsigned(value) else None


def _rewrite(module: GraphModule, node: Node) -> bool:
    """Makes a node one of signed elements, as those before it are already. Says whether it was not.

    What comes out of it in a wider type is cut off for its users.
    """
    value: Any = node.meta.get("val")
    is_given = any(_is_unsigned(each) for each in pytree.tree_leaves(value))
    if not is_given and not any(_TYPE in each.meta for each in _inputs(node)):
        return False
    # It says the same as the value, of which it is made.
    node.meta.pop("tensor_meta", None)
    if node.op == "get_attr":
        held: Any = getattr(module, str(node.target))
        setattr(module, str(node.target), _bits_of(held))
    if node.op != "call_function" or isinstance(node.target, HigherOrderOperator):
        _keep(node)
    elif node.target is operator.getitem:
        _take(node)
    elif node.target is _ATEN.view.dtype:
        _view(node)
    elif node.target in _MOVES and _moves_bits(node):
        _keep(node)
    else:
        _compute(node)
    return True


def _inputs(node: Node) -> Iterator[Node]:
    return (each for each in pytree.tree_leaves((node.args, node.kwargs)) if isinstance(each, Node))


def _keep(node: Node) -> None:
    """Leaves what a node computes: of what is unsigned it gives the bits."""
    value: Any = node.meta.get("val")
    if isinstance(value, (tuple, list)):
        node.meta[_TYPES] = [_type_of(each) for each in value]
    elif _is_unsigned(value):
        node.meta[_TYPE] = value.dtype
    node.meta["val"] = _signed(value)


def _take(node: Node) -> None:
    """Takes one of several results, which is the bits, or wider."""
    source, place = node.args
    assert isinstance(source, Node)
    kind, bits = node.meta["val"].dtype, source.meta["val"][place]
    node.meta["val"] = bits
    if bits.dtype == _BITS[kind]:
        node.meta[_TYPE] = kind
    else:
        _cut_off(node, kind)


def _view(node: Node) -> None:
    x, kind = node.args
    assert isinstance(x, Node)
    assert isinstance(kind, torch.dtype)
    wanted = _BITS.get(kind, kind)
    _keep(node)
    node.args = (x, wanted)
    if x.meta["val"].dtype == wanted:
        node.target, node.args = _ATEN.clone.default, (x,)


def _moves_bits(node: Node) -> bool:
    """Returns whether all whose elements are moved are of the type of what comes out."""
    places = _MOVES[node.target] or range(len(node.args))
    moved = [*_inputs_at(node, places)]
    others = [each for each in _inputs(node) if each not in moved]
    kinds = {_type_of(each) for each in pytree.tree_leaves(node.meta["val"])}
    kinds.update(each.meta.get(_TYPE) for each in moved)
    return len(kinds) == 1 and not any(_TYPE in each.meta for each in others)


def _inputs_at(node: Node, places: Any) -> Iterator[Node]:
    """Yields the tensors among some of a node's arguments."""
    for place in places:
        for each in pytree.tree_leaves(node.args[place]):
            if isinstance(each, Node) and isinstance(each.meta.get("val"), Tensor):
                yield each


def _compute(node: Node) -> None:
    value: Any = node.meta["val"]
    if node.target in _INDEXED and any(_TYPE in each.meta for each in _inputs_at(node, [1])):
        error = no_indices(str(node.target))
        error.position = stack_position(node.meta.get("stack_trace") or "")
        raise error
    is_cut_off = all(
        _is_unsigned(each) or each.dtype is torch.bool
        for each in pytree.tree_leaves(value)
        if isinstance(each, Tensor)
    )
    is_pointwise = torch.Tag.pointwise in getattr(node.target, "tags", ())
    common = _common_type(node) if is_pointwise and is_cut_off else None
    is_wrapped = any(_TYPE in each.meta for each in _inputs(node))

    def operand(each: Any) -> Any:
        if isinstance(each, torch.dtype) and each in _BITS:
            # As torch does, by way of 64 bits.
            return _WIDE[each] if is_wrapped else torch.int64
        if common is not None and type(each) is int:
            return each & ((1 << 8 * common.itemsize) - 1)
        if not isinstance(each, Node) or not isinstance(each.meta.get("val"), Tensor):
            return each
        kind, x = each.meta.get(_TYPE), each
        if kind is not None:
            x = _before(node, EXTEND, x, _WIDE[kind])
        if common not in (None, kind) and x.meta["val"].dtype is not torch.bool:
            # A tensor without dims may be of another type, and wraps around.
            x = _before(node, _ATEN._to_copy.default, x, dtype=_BITS[common])
            x = _before(node, EXTEND, x, _WIDE[common])
        return x

    args, kwargs = pytree.tree_map(
        operand,
        (node.args, node.kwargs),
        is_leaf=lambda each: isinstance(each, (Node, torch.dtype)),
    )
    node.args, node.kwargs = tuple(args), dict(kwargs)
    if not isinstance(value, (Tensor, tuple, list)):
        # A size, or an element as a number.
        return
    if isinstance(value, (tuple, list)):
        node.meta[_TYPES] = [_type_of(each) for each in value]
        node.meta["val"] = type(value)(
            each.to(_WIDE[each.dtype]) if _is_unsigned(each) else each for each in value
        )
        return
    made = value
    if is_pointwise:
        made = _value(node)
    elif _is_unsigned(value):
        given = node.kwargs.get("dtype")
        made = value.to(given if isinstance(given, torch.dtype) else _WIDE[value.dtype])
    node.meta["val"] = made
    if made.dtype != value.dtype:
        _cut_off(node, value.dtype)


def no_indices(operator: str) -> UnsupportedError:
    """Returns the error for unsigned elements as indices, which torch takes for truths where they
    are bytes.
    """
    return UnsupportedError(
        "elements of an unsigned type are no indices",
        op=operator,
        stage="import",
        hint="make them bool, where they say which elements are taken, or int64",
    )


def _common_type(node: Node) -> torch.dtype | None:
    """Returns the type that a node computes in element by element, where that is unsigned."""
    operands: list[Any] = []
    for each in pytree.tree_leaves(node.args):
        if isinstance(each, Node):
            value = each.meta.get("val")
            if not isinstance(value, Tensor):
                continue
            kind = each.meta.get(_TYPE, value.dtype)
            operands.append(torch.empty([1] * value.dim(), dtype=kind, device="meta"))
        elif type(each) in (int, float):
            operands.append(each)
    if not any(isinstance(each, Tensor) for each in operands):
        return None
    promotion = ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    found = elementwise_dtypes(*operands, type_promotion_kind=promotion)[1]
    return found if found in _BITS else None


def _value(node: Node) -> Any:
    """Returns the fake value that a node has with its arguments."""
    target: Any = node.target

    def value(each: Any) -> Any:
        return each.meta["val"] if isinstance(each, Node) else each

    args, kwargs = pytree.tree_map(
        value, (node.args, node.kwargs), is_leaf=lambda each: isinstance(each, Node)
    )
    return target(*args, **kwargs)


def _before(node: Node, target: Any, *args: Any, **kwargs: Any) -> Node:
    with node.graph.inserting_before(node):
        made = node.graph.call_function(target, args, kwargs)
    made.meta = {"stack_trace": node.meta.get("stack_trace"), "val": _value_of(made)}
    return made


def _value_of(node: Node) -> Any:
    """Returns the fake value of a node that makes another type of its operand's elements."""
    (x,) = _inputs(node)
    kind: Any = node.kwargs.get("dtype", node.args[-1])
    return x.meta["val"].to(kind)


def _cut_off(node: Node, kind: torch.dtype) -> None:
    """Makes what comes out of a node one of that type for its users."""
    users = [*node.users]
    with node.graph.inserting_after(node):
        made = node.graph.call_function(
            _ATEN._to_copy.default, (node,), {"dtype": _BITS.get(kind, kind)}
        )
    made.meta = {"stack_trace": node.meta.get("stack_trace"), "val": _value_of(made)}
    if kind in _BITS:
        made.meta[_TYPE] = kind
    for user in users:
        user.replace_input_with(node, made)

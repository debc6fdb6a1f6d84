"""What torch-mlir would lower to something else than torch computes is refused, at its line."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from ...compiler.errors import UnsupportedError
from .user_errors import stack_position

_REFUSED_TYPES = {
    torch.uint64: ("uint64", "convert them to int64 outside of the model"),
    torch.complex32: ("complex32", "compute with complex64"),
}


def refuse(program: ExportedProgram) -> None:
    """Raises UnsupportedError for some random numbers, types of elements, and effects.

    torch-mlir's random numbers are the same in every call. No wider type holds the values of
    uint64; buffers hold neither complex halves nor what is sparse. What some operations find when
    they run, torch checks: as some inverses of matrices.
    """
    for node in nodes_of(program):
        tags = getattr(node.target, "tags", ())
        if node.op == "call_function" and torch.Tag.nondeterministic_seeded in tags:
            raise _error(
                node,
                f"the random numbers of '{node.target}' are not generated",
                "make them of rand, randn or exponential_, or give them as an input",
            )
        if node.target is torch.ops.higher_order.with_effects:
            name = str(node.args[1])
            if node.args[1] is torch.ops.aten._linalg_check_errors.default:
                # What torch checks here the function of this name has computed.
                name = str(node.args[3])
            error = _error(node, f"'{name}' has no lowering", "compute it outside of the model")
            error.op = name
            raise error
        for value in _tensors(node.meta.get("val")):
            if value.layout is not torch.strided:
                raise _error(node, "sparse tensors are not supported", "make it dense: to_dense()")
            if value.dtype in _REFUSED_TYPES:
                kind, hint = _REFUSED_TYPES[value.dtype]
                raise _error(node, f"elements of type {kind} are not supported", hint)


def nodes_of(program: ExportedProgram) -> Iterator[Node]:
    """Yields the nodes of a program's graph, and of those of its branches and loops."""
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            yield from module.graph.nodes


def _error(node: Node, message: str, hint: str) -> UnsupportedError:
    where = f"the input '{node.name}': " if node.op == "placeholder" else ""
    return UnsupportedError(
        where + message,
        position=stack_position(node.meta.get("stack_trace") or ""),
        op=None if where else str(node.target),
        stage="import",
        hint=hint,
    )


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _tensors(each)

"""Operands of branches and loops that share memory, which torch refuses to decompose."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._ops import HigherOrderOperator
from torch.export import ExportedProgram
from torch.fx import Node

from .refusals import nodes_of


def operands_apart(program: ExportedProgram) -> None:
    """Copies operands of branches and loops that share memory with another operand.

    Where two branches have x.T, torch gives the operator x.T twice, as an operand of each.
    """
    for node in [*nodes_of(program)]:
        if isinstance(node.target, HigherOrderOperator):
            seen: set[int] = set()
            node.args = tuple(
                type(each)(_apart(node, operand, seen) for operand in each)
                if isinstance(each, (tuple, list))
                else each
                for each in node.args
            )


def _apart(node: Node, operand: Any, seen: set[int]) -> Any:
    value = operand.meta.get("val") if isinstance(operand, Node) else None
    if not isinstance(value, Tensor):
        return operand
    memory = value.untyped_storage()._cdata  # pyright: ignore[reportPrivateUsage]
    if memory not in seen:
        seen.add(memory)
        return operand
    with node.graph.inserting_before(node):
        copy = node.graph.call_function(torch.ops.aten.clone.default, (operand,))
    copy.meta = {**operand.meta, "val": value.clone()}
    return copy

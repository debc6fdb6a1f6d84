"""Loads of elements that may not be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.mlir import ir, scf, vector


def load_if(
    is_there: ir.Value, otherwise: list[ir.Value], load: Callable[[], list[ir.Value]]
) -> list[ir.Value]:
    """The elements that `load` emits loads of where they are there, others where they are not."""
    choice = scf.IfOp(is_there, _result_types(otherwise), has_else=True)
    with ir.InsertionPoint(choice.then_block):
        scf.YieldOp(_joined(load()))
    assert choice.else_block is not None
    with ir.InsertionPoint(choice.else_block):
        scf.YieldOp(_joined(otherwise))
    if len(choice.results) == len(otherwise):
        return list(choice.results)
    return [vector.extract(choice.results[0], [], [at]) for at in range(len(otherwise))]


def finished_branch(
    draft: scf.IfOp, found: Sequence[ir.Value], otherwise: Sequence[ir.Value]
) -> list[ir.Value]:
    """Returns what a branch gives whose results' types show when it has been emitted.

    `draft` is a branch without results. `found` is of its first block; `otherwise` is of its second
    one, or there before.
    """
    branch = scf.IfOp(draft.operation.operands[0], [each.type for each in found], has_else=True)
    assert branch.else_block is not None
    for block, old, values in (
        (branch.then_block, draft.then_block, found),
        (branch.else_block, draft.else_block, otherwise),
    ):
        with ir.InsertionPoint(block):
            end = scf.YieldOp(list(values)).operation
        for each in list(old or []):
            each.operation.move_before(end)
    draft.operation.erase()
    return list(branch.results)


def _is_joined(values: list[ir.Value]) -> bool:
    """Returns whether values stay one vector where control flow meets, and are moved together."""
    kind = values[0].type
    return len(values) > 1 and isinstance(kind, ir.FloatType) and kind.width > 8


def _result_types(values: list[ir.Value]) -> list[ir.Type]:
    if _is_joined(values):
        return [ir.VectorType.get([len(values)], values[0].type)]
    return [value.type for value in values]


def _joined(values: list[ir.Value]) -> list[ir.Value]:
    if _is_joined(values):
        return [vector.from_elements(_result_types(values)[0], values)]
    return values

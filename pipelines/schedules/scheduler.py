"""Schedules the operations of a module; those that are equal once."""

from __future__ import annotations

from collections.abc import Hashable

from ...dialects.mlir import ir
from ..walking import operations_where
from .choose import schedule
from .device import Device
from .kernels import Kernels
from .recipe import Recipe
from .structure import Structure, Structures, stand_ins


class Scheduler:
    """Replaces each linalg.generic on buffers by launches of kernels.

    Schedules see an operation apart from its program, on values that stand in for its own. So
    they decide by nothing but its structure, and what they emit serves all of this structure.
    """

    def __init__(self, module: ir.Operation, device: Device | None) -> None:
        self._module = module
        self._device = device
        self._kernels = Kernels(module)
        self._structures = Structures()
        self._recipes: dict[Hashable, Recipe] = {}

    def schedule(self, op: ir.Operation) -> None:
        """Replaces an operation."""
        structure = self._structures.read(op)
        recipe = None if structure.key is None else self._recipes.get(structure.key)
        if recipe is None:
            recipe = self._schedule_apart(op, structure)
            if structure.key is not None:
                self._recipes[structure.key] = recipe
        with ir.InsertionPoint(op):
            recipe.make(structure.outer, _locations(op))
        op.erase()

    def finish(self) -> None:
        """Ends the module's kernels."""
        self._kernels.finish()

    def _schedule_apart(self, op: ir.Operation, structure: Structure) -> Recipe:
        with ir.InsertionPoint(self._module.regions[0].blocks[0]), op.location:
            apart = ir.Operation.create("builtin.module", regions=1)
        block = apart.regions[0].blocks.append()
        given = stand_ins(structure, block)
        standing = len(block.operations)
        copy = op.clone(ir.InsertionPoint(block))
        _replace_outer(copy, dict(zip(structure.outer, given, strict=True)))
        locations = _locations(copy)
        schedule(copy, self._kernels, self._device)
        emitted = [each.operation for each in block.operations][standing:]
        recipe = Recipe.of(emitted, given, locations)
        apart.erase()
        return recipe


def _replace_outer(op: ir.Operation, given: dict[ir.Value, ir.Value]) -> None:
    for inner in operations_where(op, lambda _: True):
        for number, operand in enumerate(inner.operands):
            if operand in given:
                inner.operands[number] = given[operand]


def _locations(op: ir.Operation) -> list[ir.Location]:
    return [inner.location for inner in operations_where(op, lambda _: True)]

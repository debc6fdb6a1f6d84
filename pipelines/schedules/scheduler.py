"""Schedules the operations of a module; those that are equal once."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count

from ...dialects.mlir import ir
from ..walking import operations_where
from .choose import schedule
from .device import Device
from .kernels import Kernels
from .launchers import Launcher, Launchers
from .shape_class import read_tuning
from .structure import Structure, Structures, stand_ins


class Scheduler:
    """Replaces each linalg.generic on buffers by a call of what launches its kernels.

    Schedules see an operation apart from its program, on values that stand in for its own. So
    they decide by nothing but its structure, and what they emit serves all of this structure.
    """

    def __init__(self, module: ir.Operation, device: Device | None, *, mark: bool = False) -> None:
        self._device = device
        self._tuning = read_tuning(module)
        self._number = count() if mark else None
        self._kernels = Kernels(module)
        self._structures = Structures()
        self._launchers = Launchers(module)
        self._known: dict[Hashable, Launcher | None] = {}

    def schedule(self, op: ir.Operation, program: ir.Operation) -> None:
        """Replaces an operation of a program."""
        structure = self._structures.read(op)
        number = next(self._number) if self._number is not None else None
        with op.location:
            if structure.key in self._known:
                launcher = self._known[structure.key]
            else:
                launcher = self._make_launcher(op, structure, program)
                if structure.key is not None:
                    self._known[structure.key] = launcher
            if launcher is not None:
                with ir.InsertionPoint(op):
                    launcher.run(structure.outer, number)
        op.erase()

    def finish(self) -> None:
        """Ends the module's kernels."""
        self._kernels.finish()

    def _make_launcher(
        self, op: ir.Operation, structure: Structure, program: ir.Operation
    ) -> Launcher | None:
        block = self._launchers.begin(program)
        given = stand_ins(structure, block)
        copy = op.clone(ir.InsertionPoint(block))
        _replace_outer(copy, dict(zip(structure.outer, given, strict=True)))
        schedule(copy, self._kernels, self._device, self._tuning)
        return self._launchers.end(block, structure, given)


def _replace_outer(op: ir.Operation, given: dict[ir.Value, ir.Value]) -> None:
    for inner in operations_where(op, lambda _: True):
        for number, operand in enumerate(inner.operands):
            if operand in given:
                inner.operands[number] = given[operand]

"""Operations recorded, to be made again of other values at other places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.mlir import ir


@dataclass(frozen=True)
class _Step:
    """An operation. Values are numbered: what is given first, then each as it is defined.

    `place` numbers the location among those that the recipe is recorded with, where it is one.
    """

    name: str
    results: tuple[ir.Type, ...]
    operands: tuple[int, ...]
    attributes: dict[str, ir.Attribute]
    regions: tuple[tuple[_Block, ...], ...]
    place: int | ir.Location


@dataclass(frozen=True)
class _Block:
    arguments: tuple[ir.Type, ...]
    steps: tuple[_Step, ...]


@dataclass(frozen=True)
class Recipe:
    """Operations that follow one another."""

    steps: tuple[_Step, ...]

    @classmethod
    def of(
        cls,
        operations: Sequence[ir.Operation],
        given: Sequence[ir.Value],
        locations: Sequence[ir.Location],
    ) -> Recipe:
        """Records operations that use no other values from outside than those `given`."""
        recorder = _Recorder(given, locations)
        return cls(tuple(recorder.step(op) for op in operations))

    def make(self, given: Sequence[ir.Value], locations: Sequence[ir.Location]) -> None:
        """Makes the operations of other values, at the current insertion point."""
        _make(self.steps, list(given), locations)


class _Recorder:
    def __init__(self, given: Sequence[ir.Value], locations: Sequence[ir.Location]) -> None:
        self._numbers = {value: number for number, value in enumerate(given)}
        self._locations = locations

    def step(self, op: ir.Operation) -> _Step:
        operands = tuple(self._numbers[operand] for operand in op.operands)
        results = tuple(self._define(result) for result in op.results)
        regions = tuple(
            tuple(self._block(block) for block in region.blocks) for region in op.regions
        )
        attributes = dict(op.attributes.items())
        return _Step(op.name, results, operands, attributes, regions, self._place(op.location))

    def _block(self, block: ir.Block) -> _Block:
        arguments = tuple(self._define(argument) for argument in block.arguments)
        return _Block(arguments, tuple(self.step(op.operation) for op in block.operations))

    def _define(self, value: ir.Value) -> ir.Type:
        self._numbers[value] = len(self._numbers)
        return value.type

    def _place(self, location: ir.Location) -> int | ir.Location:
        return next(
            (number for number, each in enumerate(self._locations) if each == location), location
        )


def _make(steps: Sequence[_Step], values: list[ir.Value], locations: Sequence[ir.Location]) -> None:
    for step in steps:
        location = locations[step.place] if isinstance(step.place, int) else step.place
        op = ir.Operation.create(
            step.name,
            results=step.results,
            operands=[values[number] for number in step.operands],
            attributes=step.attributes,
            regions=len(step.regions),
            loc=location,
        )
        values += op.results
        for region, blocks in zip(op.regions, step.regions, strict=True):
            for each in blocks:
                types = each.arguments
                block = region.blocks.append(*types, arg_locs=[location] * len(types))
                values += block.arguments
                with ir.InsertionPoint(block):
                    _make(each.steps, values, locations)

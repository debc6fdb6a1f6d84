"""The loops of a linalg.generic: which operand gives each its extent, which may run in parallel."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.mlir import ir
from ..pass_base import fail


@dataclass(frozen=True)
class Extent:
    """Where a loop's number of iterations is found: dim `axis` of operand `operand`."""

    operand: int
    axis: int


@dataclass(frozen=True)
class Iteration:
    """The iteration space of one linalg.generic on buffers.

    `maps` has one affine map an operand, inputs first. `parallel` are the loops whose iterations
    write different elements of every output, `serial` the others, both outermost first.
    """

    maps: tuple[ir.AffineMap, ...]
    inputs: int
    extents: tuple[Extent, ...]
    parallel: tuple[int, ...]
    serial: tuple[int, ...]

    @property
    def accumulates_in_registers(self) -> bool:
        """Whether each output element belongs to one iteration of the parallel loops."""
        return not any(
            _uses(expression, loop)
            for output in self.maps[self.inputs :]
            for expression in output.results
            for loop in self.serial
        )


def read_iteration(op: ir.Operation) -> Iteration:
    """The loops of a linalg.generic on buffers; reports what no kernel can be made of."""
    if len(op.results):
        fail(op, "linalg on tensors inside a host program; bufferize it first")
    maps = tuple(
        ir.AffineMapAttr(attribute).value
        for attribute in ir.ArrayAttr(op.attributes["indexing_maps"])
    )
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
    outputs = maps[inputs:]
    parallel = tuple(
        loop
        for loop, kind in enumerate(kinds)
        if "parallel" in kind and all(_selects(output, loop) for output in outputs)
    )
    serial = tuple(loop for loop in range(len(kinds)) if loop not in parallel)
    extents = tuple(_extent(op, maps, loop) for loop in range(len(kinds)))
    return Iteration(maps, inputs, extents, parallel, serial)


def _selects(output: ir.AffineMap, loop: int) -> bool:
    """Whether the loop alone is one of the map's results, so that iterations never collide."""
    return any(_is_loop(expression, loop) for expression in output.results)


def _is_loop(expression: ir.AffineExpr, loop: int) -> bool:
    return (
        isinstance(expression, ir.AffineDimExpr) and ir.AffineDimExpr(expression).position == loop
    )


def _uses(expression: ir.AffineExpr, loop: int) -> bool:
    if isinstance(expression, ir.AffineBinaryExpr):
        return _uses(expression.lhs, loop) or _uses(expression.rhs, loop)
    return _is_loop(expression, loop)


def _extent(op: ir.Operation, maps: tuple[ir.AffineMap, ...], loop: int) -> Extent:
    found = next(
        (
            Extent(operand, axis)
            for operand, map_ in enumerate(maps)
            for axis, expression in enumerate(map_.results)
            if _is_loop(expression, loop)
        ),
        None,
    )
    if found is None:
        fail(op, f"no operand's dim gives the extent of loop d{loop}; add an operand of that size")
    return found

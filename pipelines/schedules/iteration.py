"""The loops of a linalg.generic: which operand gives each its extent, which may run in parallel."""

from __future__ import annotations

from ...dialects.mlir import ir
from ...dialects.records import dataclass
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


def loop_of(expression: ir.AffineExpr) -> int | None:
    """The loop that an expression is, or None where it is more than one loop's index."""
    return expression.position if isinstance(expression, ir.AffineDimExpr) else None


def _selects(output: ir.AffineMap, loop: int) -> bool:
    """Returns whether the loop alone is a result of the map, so that iterations never collide."""
    return any(loop_of(expression) == loop for expression in output.results)


def _uses(expression: ir.AffineExpr, loop: int) -> bool:
    if isinstance(expression, ir.AffineBinaryExpr):
        return _uses(expression.lhs, loop) or _uses(expression.rhs, loop)
    return loop_of(expression) == loop


def _extent(op: ir.Operation, maps: tuple[ir.AffineMap, ...], loop: int) -> Extent:
    """A place where the loop's extent is found, one of static size where there is one.

    There is always one: linalg's verifier takes invertible maps only.
    """
    found = [
        Extent(operand, axis)
        for operand, map_ in enumerate(maps)
        for axis, expression in enumerate(map_.results)
        if loop_of(expression) == loop
    ]
    return next((place for place in found if is_static(op, place)), found[0])


def is_static(op: ir.Operation, place: Extent) -> bool:
    """Returns whether the type says the size at `place`."""
    return not ir.MemRefType(op.operands[place.operand].type).is_dynamic_dim(place.axis)

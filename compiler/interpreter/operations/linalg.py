"""linalg.generic on buffers: the region for every point of the index space. Slow, for tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer, packed_strides
from ..convert import load
from ..dtypes import computing_dtype
from ..frame import Frame, check_writable
from ..fused import FusedRun, combine, is_fused
from ..nested import operations_in
from ..region_loops import RegionLoops, loops_of_map
from ..registry import interprets
from ..torch_import import torch

# Operations that are run, and elements read. It takes half a minute; beyond, a run takes minutes.
_MOST_STEPS = 4_000_000


@dataclass
class _Operand:
    """A buffer's elements in row-major order, or a scalar for every place."""

    map: ir.AffineMap
    value: Any = None
    buffer: Buffer | None = None

    def load(self) -> None:
        """Reads the elements of a buffer."""
        if self.buffer is not None:
            stored = self.buffer.tensor.cpu()
            self.value = load(stored, self.buffer.element).flatten().tolist()

    def place(self, op: ir.Operation, point: Sequence[int]) -> int:
        """Returns the number of the element that a point of the index space has."""
        return self.number(op, [_at(expr, point) for expr in self.map.results])

    def number(self, op: ir.Operation, indices: Sequence[int]) -> int:
        """Returns the number of the element at a place."""
        if self.buffer is None:
            return 0
        place = 0
        sizes = self.buffer.sizes
        for index, size, stride in zip(indices, sizes, packed_strides(sizes), strict=True):
            if not 0 <= index < size:
                fault.fail(op, f"index {index} is out of range for {self.buffer.name}: size {size}")
            place += index * stride
        return place


@dataclass(frozen=True)
class _Written:
    """What hir.scatter writes, and where to."""

    op: ir.Operation
    value: Any
    places: Sequence[int]

    def write(self, target: _Operand) -> None:
        """Writes it, or combines it with what is there."""
        number, value = target.number(self.op, self.places), self.value
        if "kind" in self.op.attributes:
            kind = ir.StringAttr(self.op.attributes["kind"]).value
            value = combine(kind, self.op.operands[1].type, target.value[number], value)
        target.value[number] = value


@interprets("hir.scatter")
def scatter(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value, *places = [frame.value(operand) for operand in list(op.operands)[1:]]
    return [_Written(op, value, places)]


def _is_scattered_to(argument: ir.Value) -> bool:
    return any(
        use.owner.operation.name == "hir.scatter" and use.operand_number == 0
        for use in argument.uses
    )


@interprets("linalg.generic")
def generic(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Reads the operands at the places that their maps give, runs the region, writes the outs."""
    inputs, _ = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    maps = [ir.AffineMapAttr(item).value for item in ir.ArrayAttr(op.attributes["indexing_maps"])]
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    operands = [
        _operand(op, frame, operand, map_) for operand, map_ in zip(op.operands, maps, strict=True)
    ]
    bounds = _bounds(op, maps, operands)
    _check_size(op, bounds, operands)
    for operand in operands:
        operand.load()
    for number, (argument, operand) in enumerate(zip(arguments, operands, strict=True)):
        buffer = operand.buffer
        if buffer is not None and number >= inputs:
            check_writable(op, buffer)
        is_read = any(True for _ in argument.uses) and 0 not in bounds
        if buffer is not None and is_read:
            frame.check_written(op, buffer)
    if is_fused(block):
        _run_fused(op, frame, bounds, operands, inputs)
        return []
    placed = [not _is_scattered_to(argument) for argument in arguments]
    for point in product(*(range(bound) for bound in bounds)):
        places = [
            operand.place(op, point) if has_place else 0
            for operand, has_place in zip(operands, placed, strict=True)
        ]
        for argument, operand, place in zip(arguments, operands, places, strict=True):
            # Where it is scattered to there may be no element at all.
            frame.values[argument] = operand.value[place] if operand.value else None
        frame.points.append(point)
        ((_, results),) = frame.run_block(block)
        frame.points.pop()
        for number, result in enumerate(results, inputs):
            if isinstance(result, _Written):
                result.write(operands[number])
            else:
                operands[number].value[places[number]] = result
    for operand in operands[inputs:]:
        assert operand.buffer is not None
        if 0 not in bounds:
            _write(frame, operand.buffer, operand.value)
    return []


def _run_fused(
    op: ir.Operation,
    frame: Frame,
    bounds: Sequence[int],
    operands: Sequence[_Operand],
    inputs: int,
) -> None:
    """Runs a region with reductions or scans, and writes the outs where they have elements."""
    maps = [operand.map for operand in operands]
    loops = RegionLoops(op.regions[0].blocks[0], maps)
    run = FusedRun(op, frame, bounds, loops)
    run.run(lambda number, point: operands[number].value[operands[number].place(op, point)])
    *_, end = op.regions[0].blocks[0]
    for operand, value in zip(operands[inputs:], end.operation.operands, strict=True):
        assert operand.buffer is not None
        points = list(run.points(loops_of_map(operand.map) | loops.of(value)))
        for point in points:
            operand.value[operand.place(op, point)] = run.value(value, point)
        if points:
            _write(frame, operand.buffer, operand.value)


@interprets("hir.matrix_element")
def matrix_element(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Returns the element of the constant matrix in a row and a column."""
    matrix = ir.DenseFPElementsAttr(op.attributes["matrix"])
    rows, columns = ir.ShapedType(matrix.type).shape
    row, column = (frame.value(operand) for operand in op.operands)
    if not (0 <= row < rows and 0 <= column < columns):
        fault.fail(op, f"the matrix is {rows} by {columns}, and has no element {row}, {column}")
    return [matrix[row * columns + column]]


@interprets("linalg.index")
def index(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [frame.points[-1][ir.IntegerAttr(op.attributes["dim"]).value]]


def _operand(op: ir.Operation, frame: Frame, operand: ir.Value, map_: ir.AffineMap) -> _Operand:
    if not isinstance(frame.value(operand), Buffer):
        return _Operand(map_, [frame.value(operand)])
    return _Operand(map_, buffer=frame.buffer(op, operand))


def _check_size(op: ir.Operation, bounds: Sequence[int], operands: Sequence[_Operand]) -> None:
    """Refuses what would take too long, before its elements are read."""
    points, steps = math.prod(bounds), sum(1 for _ in operations_in(op)) - 1
    sizes = [math.prod(operand.buffer.sizes) for operand in operands if operand.buffer is not None]
    if points * steps + sum(sizes) > _MOST_STEPS:
        fault.refuse(
            op,
            f"linalg.generic is interpreted element by element: {points} times {steps} "
            f"operation{'s' * (steps > 1)} on {sum(sizes)} elements are too slow",
            hint="interpret the program before hir-convert-compute-to-linalg",
        )


def _write(frame: Frame, buffer: Buffer, elements: Sequence[Any]) -> None:
    numbers = torch.tensor(elements, dtype=computing_dtype(buffer.element))
    frame.write(buffer, numbers.reshape(buffer.sizes))


def _bounds(
    op: ir.Operation, maps: Sequence[ir.AffineMap], operands: Sequence[_Operand]
) -> list[int]:
    """Returns the extent of each loop: the size of a dim that is indexed by it alone."""
    bounds: list[int | None] = [None] * maps[0].n_dims
    for map_, operand in zip(maps, operands, strict=True):
        if operand.buffer is None:
            continue
        for expr, size in zip(map_.results, operand.buffer.sizes, strict=True):
            if not isinstance(expr, ir.AffineDimExpr):
                continue
            loop = expr.position
            if bounds[loop] not in (None, size):
                fault.fail(
                    op,
                    f"{operand.buffer.name} has size {size} where another operand has "
                    f"{bounds[loop]}",
                )
            bounds[loop] = size
    found = [bound for bound in bounds if bound is not None]
    if len(found) != len(bounds):
        fault.refuse(op, "a loop's extent is not the size of any operand's dim")
    return found


def _at(expr: ir.AffineExpr, point: Sequence[int]) -> int:
    """Returns an affine expression of the loops' indices."""
    if isinstance(expr, ir.AffineDimExpr):
        return point[expr.position]
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value
    assert isinstance(expr, ir.AffineBinaryExpr)
    left, right = _at(expr.lhs, point), _at(expr.rhs, point)
    if isinstance(expr, ir.AffineAddExpr):
        return left + right
    if isinstance(expr, ir.AffineMulExpr):
        return left * right
    if isinstance(expr, ir.AffineModExpr):
        return left % right
    if isinstance(expr, ir.AffineFloorDivExpr):
        return left // right
    return -(-left // right)

"""The general schedule: one thread computes one output element, whatever the operation.

The parallel loops are one range of numbers, spread over the threads of a one-dimensional grid; each
thread takes every so many of them, so any extent fits any grid. The other loops run serially in the
thread, with the elements it computes in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ...dialects.mlir import affine, arith, gpu, ir, memref, scf
from ..rewriting import index_constant
from ..walking import operations_where
from .iteration import Iteration, read_iteration
from .kernels import Kernels
from .launch import captured_values, emit_launch, is_within, operation_name

THREADS = 256
# What the grid's x dimension takes (CUDA C++ Programming Guide, "Compute Capabilities").
_MAX_BLOCKS = 2**31 - 1


def schedule(op: ir.Operation, kernels: Kernels) -> None:
    """Replaces a linalg.generic on buffers by a launch of a kernel that does the same."""
    iteration = read_iteration(op)
    with op.location, ir.InsertionPoint(op):
        extents = [_host_extent(op, iteration, loop) for loop in iteration.parallel]
        if 0 in extents:
            op.erase()
            return
        captured = captured_values(op)
        blocks = _blocks([extent for extent in extents if extent != 1])
    arguments = [*op.operands, *captured]
    operands = len(op.operands)

    def emit(values: Sequence[ir.Value]) -> None:
        for value, inside in zip(captured, values[operands:], strict=True):
            _replace_within(op, value, inside)
        _Body(op, iteration, values[:operands]).emit()

    kernel = kernels.add(
        operation_name(op), [value.type for value in arguments], THREADS, emit, op.location
    )
    with op.location, ir.InsertionPoint(op):
        emit_launch(kernel, blocks, THREADS, arguments)
    op.erase()


def _replace_within(op: ir.Operation, value: ir.Value, inside: ir.Value) -> None:
    """Makes the operations within `op` use `inside` instead of `value`."""
    for use in list(value.uses):
        owner = use.owner.operation
        if owner != op and is_within(owner, op):
            owner.operands[use.operand_number] = inside


def _host_extent(op: ir.Operation, iteration: Iteration, loop: int) -> int | ir.Value:
    """A loop's number of iterations, as an int where it is static."""
    place = iteration.extents[loop]
    buffer = op.operands[place.operand]
    size = ir.MemRefType(buffer.type).shape[place.axis]
    if size != ir.ShapedType.get_dynamic_size():
        return size
    return memref.dim(buffer, index_constant(place.axis))


def _blocks(extents: Sequence[int | ir.Value]) -> ir.Value:
    """Blocks that give every element a thread, or as many as a grid has."""
    static = 1
    total: ir.Value | None = None
    for extent in extents:
        if isinstance(extent, int):
            static *= extent
        else:
            total = extent if total is None else arith.muli(total, extent)
    if total is None:
        return index_constant(min(-(-static // THREADS), _MAX_BLOCKS))
    if static != 1:
        total = arith.muli(total, index_constant(static))
    needed = arith.ceildivui(total, index_constant(THREADS))
    return arith.minui(needed, index_constant(_MAX_BLOCKS))


class _Body:
    """Emits one kernel's body; the operation's own region is moved into it."""

    def __init__(self, op: ir.Operation, iteration: Iteration, buffers: Sequence[ir.Value]) -> None:
        self._op = op
        self._block = op.regions[0].blocks[0]
        self._iteration = iteration
        self._buffers = buffers
        self._loops: dict[int, ir.Value] = {}

    def emit(self) -> None:
        extents = [self._extent(loop) for loop in self._iteration.parallel]
        total = reduce(arith.muli, extents) if extents else index_constant(1)
        block = gpu.block_id(gpu.Dimension.x)
        threads = index_constant(THREADS)
        first = arith.addi(arith.muli(block, threads), gpu.thread_id(gpu.Dimension.x))
        step = arith.muli(gpu.grid_dim(gpu.Dimension.x), threads)
        loop = scf.ForOp(first, total, step)
        with ir.InsertionPoint(loop.body):
            self._split(loop.induction_variable, extents)
            if self._iteration.accumulates_in_registers:
                self._in_registers()
            else:
                self._in_memory()
            scf.YieldOp([])

    def _extent(self, loop: int) -> ir.Value:
        place = self._iteration.extents[loop]
        buffer = self._buffers[place.operand]
        return memref.dim(buffer, index_constant(place.axis))

    def _split(self, number: ir.Value, extents: Sequence[ir.Value]) -> None:
        """Sets the parallel loops' indices from the number of the element, innermost fastest."""
        rest = number
        for loop, extent in reversed(list(zip(self._iteration.parallel, extents, strict=True))):
            if loop == self._iteration.parallel[0]:
                self._loops[loop] = rest
            else:
                self._loops[loop] = arith.remui(rest, extent)
                rest = arith.divui(rest, extent)

    def _in_registers(self) -> None:
        """The serial loops carry the outputs' elements; they are stored once, at the end."""
        outputs = range(self._iteration.inputs, len(self._buffers))
        if not self._iteration.serial:
            self._store(outputs, self._step({}))
            return
        started = [self._load(number) for number in outputs]

        def innermost(carried: Sequence[ir.Value]) -> list[ir.Value]:
            return self._step(dict(zip(outputs, carried, strict=True)))

        self._store(outputs, self._serial(list(self._iteration.serial), started, innermost))

    def _in_memory(self) -> None:
        """Every iteration reads and writes the outputs' elements where they lie."""
        outputs = range(self._iteration.inputs, len(self._buffers))

        def innermost(carried: Sequence[ir.Value]) -> list[ir.Value]:
            del carried
            self._store(outputs, self._step({}))
            return []

        self._serial(list(self._iteration.serial), [], innermost)

    def _serial(
        self,
        loops: list[int],
        carried: list[ir.Value],
        innermost: Callable[[Sequence[ir.Value]], list[ir.Value]],
    ) -> list[ir.Value]:
        if not loops:
            return innermost(carried)
        nest = scf.ForOp(
            index_constant(0), self._extent(loops[0]), index_constant(1), list(carried)
        )
        with ir.InsertionPoint(nest.body):
            self._loops[loops[0]] = nest.induction_variable
            scf.YieldOp(self._serial(loops[1:], list(nest.inner_iter_args), innermost))
        return list(nest.results)

    def _step(self, known: dict[int, ir.Value]) -> list[ir.Value]:
        """One run of the operation's region, moved here; `known` are operands' elements at hand."""
        for number, argument in enumerate(self._block.arguments):
            if number in known:
                argument.replace_all_uses_with(known[number])
            elif next(iter(argument.uses), None) is not None:
                argument.replace_all_uses_with(self._load(number))
        for index in operations_where(self._op, lambda inner: inner.name == "linalg.index"):
            loop = ir.IntegerAttr(index.attributes["dim"]).value
            index.results[0].replace_all_uses_with(self._loops[loop])
            index.erase()
        *work, end = self._block.operations
        # Operations move to a place before another one only.
        place = arith.ConstantOp(ir.IndexType.get(), 0)
        for inner in work:
            inner.operation.move_before(place.operation)
        place.operation.erase()
        return list(end.operation.operands)

    def _place(self, number: int) -> list[ir.Value]:
        """The index of operand `number`'s element in this iteration."""
        map_ = self._iteration.maps[number]
        return [self._apply(expression, map_.n_dims) for expression in map_.results]

    def _apply(self, expression: ir.AffineExpr, dims: int) -> ir.Value:
        if isinstance(expression, ir.AffineDimExpr):
            return self._loops[ir.AffineDimExpr(expression).position]
        if isinstance(expression, ir.AffineConstantExpr):
            return index_constant(ir.AffineConstantExpr(expression).value)
        # A loop that has not begun is one that the expression does not use.
        loops = [self._loops.get(loop) or index_constant(0) for loop in range(dims)]
        return affine.AffineApplyOp(ir.AffineMap.get(dims, 0, [expression]), loops).result

    def _load(self, number: int) -> ir.Value:
        buffer = self._buffers[number]
        if not isinstance(buffer.type, ir.MemRefType):
            return buffer
        return memref.load(buffer, self._place(number))

    def _store(self, outputs: Sequence[int], values: Sequence[ir.Value]) -> None:
        for number, value in zip(outputs, values, strict=True):
            memref.store(value, self._buffers[number], self._place(number))

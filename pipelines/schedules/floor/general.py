"""The general schedule: one thread computes one output element, whatever the operation.

The parallel loops are one range of numbers, spread over the threads of a one-dimensional grid; each
thread takes every so many of them, so any extent fits any grid. The other loops run serially in the
thread, with the elements it computes in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....dialects.mlir import arith, ir, memref, scf
from ...rewriting import index_constant
from ...walking import is_used, operations_where
from ..iteration import Iteration, read_iteration
from ..kernels import Kernels
from ..launch import is_within
from .launch_points import replace_by_launch
from .points import applied, emit_points, kernel_extent
from .wide_sums import accumulate_in_f32, extended, rounded

THREADS = 256


def schedule(op: ir.Operation, kernels: Kernels) -> None:
    """Replaces a linalg.generic on buffers by a launch of a kernel that does the same."""
    iteration = read_iteration(op)

    def emit(buffers: Sequence[ir.Value], captured: Mapping[ir.Value, ir.Value]) -> None:
        emit_body(op, iteration, buffers, captured)

    replace_by_launch(op, iteration, kernels, THREADS, emit)


def emit_body(
    op: ir.Operation,
    iteration: Iteration,
    buffers: Sequence[ir.Value],
    captured: Mapping[ir.Value, ir.Value],
) -> None:
    """Emits what the kernel does, whose operands are `buffers`; the operation loses its region.

    `captured` maps what the region uses from outside to the kernel's arguments.
    """
    for value, inside in captured.items():
        _replace_within(op, value, inside)
    _Body(op, iteration, buffers).emit()


def _replace_within(op: ir.Operation, value: ir.Value, inside: ir.Value) -> None:
    """Makes the operations within `op` use `inside` instead of `value`."""
    for use in list(value.uses):
        owner = use.owner.operation
        if owner != op and is_within(owner, op):
            owner.operands[use.operand_number] = inside


class _Body:
    """Emits one kernel's body; the operation's own region is moved into it."""

    def __init__(self, op: ir.Operation, iteration: Iteration, buffers: Sequence[ir.Value]) -> None:
        self._op = op
        self._block = op.regions[0].blocks[0]
        self._iteration = iteration
        self._buffers = buffers
        self._loops: dict[int, ir.Value] = {}

    def emit(self) -> None:
        emit_points([self._extent(loop) for loop in self._iteration.parallel], THREADS, self._at)

    def _at(self, indices: Sequence[ir.Value]) -> None:
        """The work of one point of the parallel loops."""
        self._loops.update(zip(self._iteration.parallel, indices, strict=True))
        if self._iteration.accumulates_in_registers:
            self._in_registers()
        else:
            self._in_memory()

    def _extent(self, loop: int) -> ir.Value:
        return kernel_extent(self._iteration, self._buffers, loop)

    def _in_registers(self) -> None:
        """The serial loops carry the outputs' elements; they are stored once, at the end."""
        outputs = range(self._iteration.inputs, len(self._buffers))
        if not self._iteration.serial:
            self._store(outputs, self._step({}))
            return
        accumulate_in_f32(self._op, outputs)
        kinds = [self._block.arguments[number].type for number in outputs]
        elements = [self._load(number) for number in outputs]
        started = [extended(*each) for each in zip(elements, kinds, strict=True)]

        def innermost(carried: Sequence[ir.Value]) -> list[ir.Value]:
            return self._step(dict(zip(outputs, carried, strict=True)))

        sums = self._serial(list(self._iteration.serial), started, innermost)
        self._store(
            outputs,
            [rounded(value, each.type) for value, each in zip(sums, elements, strict=True)],
        )

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
            elif is_used(argument):
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
        return [applied(expression, map_.n_dims, self._loops) for expression in map_.results]

    def _load(self, number: int) -> ir.Value:
        buffer = self._buffers[number]
        if not isinstance(buffer.type, ir.MemRefType):
            return buffer
        return memref.load(buffer, self._place(number))

    def _store(self, outputs: Sequence[int], values: Sequence[ir.Value]) -> None:
        for number, value in zip(outputs, values, strict=True):
            memref.store(value, self._buffers[number], self._place(number))

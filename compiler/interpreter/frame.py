"""A program while it runs: its values, its current stream, and what every operation needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...dialects.hir.element_types import ElementType
from ...dialects.mlir import ir
from .. import activity
from ..errors import UnsupportedError
from ..session import position_of
from . import fault
from .buffer import Buffer, packed_strides
from .convert import load, store
from .dtypes import POISON_BYTE, dtype_of, element_type_of
from .memory import Owner
from .outline import Outline
from .registry import find_step
from .shapes import static_sizes, text_of
from .streams import Stream
from .torch_import import torch

if TYPE_CHECKING:
    from .interpreter import Interpreter

# Operations that hand values to what their block belongs to.
COLLECTED = frozenset({"hir.output", "hir.argument", "hir.stop_loop", "linalg.yield", "scf.yield"})

Collected = list[tuple[ir.Operation, list[Any]]]


@dataclass(eq=False)
class Frame:
    """One run of one program.

    `given` are the buffers that outputs were handed in as, by number.
    """

    interpreter: Interpreter
    outline: Outline
    stream: Stream
    given: dict[int, Buffer] = field(default_factory=dict[int, Buffer])
    values: dict[ir.Value, Any] = field(default_factory=dict[ir.Value, Any])
    # The points of the index spaces of the linalg operations that are running.
    points: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    _kept: dict[ir.Block, list[ir.Operation]] = field(
        default_factory=dict[ir.Block, list[ir.Operation]]
    )

    # Running

    def run_block(self, block: ir.Block) -> Collected:
        """Runs a block's operations; what it hands out. The stream before it is current again."""
        before = self.stream
        collected: Collected = []
        for op in self._operations(block):
            if op.name in COLLECTED:
                collected.append((op, [self.value(operand) for operand in op.operands]))
            else:
                self.run(op)
        self.stream = before
        return collected

    def _operations(self, block: ir.Block) -> Iterable[ir.Operation]:
        """Yields a block's operations; those that each point of a linalg operation
        runs are kept.
        """
        if not self.points:
            return (view.operation for view in block.operations)
        if block not in self._kept:
            self._kept[block] = [view.operation for view in block.operations]
        return self._kept[block]

    def run(self, op: ir.Operation) -> None:
        """Runs one operation and keeps its results."""
        if self.points:
            # It is part of the linalg operation that is noted, in the stream of that.
            self._run(op)
            return
        if activity.is_watched():
            activity.enter(fault.STAGE, f"'{op.name}' at {fault.where(op)}")
        with self.stream.current():
            self._run(op)

    def _run(self, op: ir.Operation) -> None:
        step = find_step(op.name)
        if step is None:
            raise UnsupportedError(
                f"the interpreter has no '{op.name}'",
                position=position_of(op.location),
                op=op.name,
                stage=fault.STAGE,
                hint="docs/host-ir.md lists what a program may hold",
            )
        results = step(op, self)
        for result, value in zip(op.results, results, strict=True):
            self.bind(op, result, value)

    def bind(self, op: ir.Operation, result: ir.Value, value: Any) -> None:
        """Makes `value` that of `result`. Fails where a buffer is not of the result's type."""
        if isinstance(value, Buffer):
            declared = static_sizes(result.type)
            fits = len(declared) == len(value.sizes) and all(
                size in (None, actual) for size, actual in zip(declared, value.sizes, strict=True)
            )
            if not fits:
                fault.fail(
                    op,
                    f"the result is declared as {text_of(declared)}, and is "
                    f"{text_of(value.sizes)} at run time",
                )
        self.values[result] = value

    # Operands

    def value(self, operand: ir.Value) -> Any:
        return self.values[operand]

    def number(self, operand: ir.Value) -> int:
        """Returns a scalar operand."""
        return int(self.values[operand])

    def buffer(self, op: ir.Operation, operand: ir.Value) -> Buffer:
        """Returns a buffer operand. Fails where its memory is not there any more."""
        buffer = self.values[operand]
        assert isinstance(buffer, Buffer)
        ended = buffer.allocation.ended
        if ended:
            fault.fail(
                op,
                f"'{op.name}' uses {buffer.name}, and {ended}",
                hint="free a buffer after its last use, or let hir-insert-deallocations do it",
            )
        return buffer

    # Elements

    def read(self, op: ir.Operation, buffer: Buffer) -> torch.Tensor:
        """Returns the elements, in the type they are computed in. Fails where one was never
        written.
        """
        self.check_written(op, buffer)
        tensor = buffer.tensor.to(self.interpreter.device)
        return load(tensor, buffer.element)

    def check_written(self, op: ir.Operation, buffer: Buffer) -> None:
        """Fails where an element was never written."""
        if not is_written(buffer):
            fault.fail(
                op,
                f"'{op.name}' reads elements of {buffer.name} that nothing was written to",
                hint="write them first (hir.set), or allocate with zero_init",
            )

    def write(self, buffer: Buffer, numbers: torch.Tensor) -> None:
        """Writes numbers, in the computing type of the buffer's elements; they broadcast."""
        self.write_stored(buffer, store(numbers, buffer.element))

    def write_stored(self, buffer: Buffer, stored: torch.Tensor) -> None:
        """Writes elements as they lie in memory."""
        buffer.tensor.copy_(stored.expand(buffer.sizes))
        mark_written(buffer)

    # Buffers

    def destination(
        self,
        op: ir.Operation,
        sizes: Sequence[int],
        sources: Sequence[Buffer] = (),
        *,
        in_place: bool = False,
    ) -> Buffer:
        """Where a compute operation's result goes, which has these sizes.

        With `in_place` it may be one of the `sources`, as the very same view.
        """
        if len(op.results) == 1:
            return self.fresh(op, op.results[0], sizes)
        buffer = self.buffer(op, op.operands[len(op.operands) - 1])
        if buffer.sizes != tuple(sizes):
            fault.fail(
                op,
                f"the destination, {buffer.name}, is {text_of(buffer.sizes)}, and the result is "
                f"{text_of(sizes)}",
            )
        check_writable(op, buffer)
        for source in sources:
            if in_place and buffer.is_same_view(source):
                continue
            if buffer.overlaps(source):
                fault.fail(
                    op,
                    f"the destination, {buffer.name}, overlaps an operand in memory",
                    hint="only an elementwise operation may write to its operand, and only to "
                    "the very same view",
                )
        return buffer

    def fresh(self, op: ir.Operation, result: ir.Value, sizes: Sequence[int]) -> Buffer:
        """Returns the buffer of a result without a destination: packed, or what it
        is an alias of.
        """
        element = element_type_of(result.type)
        assert element is not None
        placed = self.placed(op, result, sizes)
        if placed is not None:
            return placed
        count = math.prod(sizes)
        return self.allocate(op, result, element, sizes, packed_strides(sizes), count)

    def placed(self, op: ir.Operation, result: ir.Value, sizes: Sequence[int]) -> Buffer | None:
        """Returns the existing buffer that a fresh result is: an alias's target, or a caller's
        output.
        """
        target = self.outline.alias_target(result)
        if target is not None:
            if target not in self.values:
                fault.fail(
                    op,
                    "the result is an alias of a buffer that is not there yet",
                    hint="make the target of hir.alias before what is to lie in its memory",
                )
            buffer = self.buffer(op, target)
            what = f"the target of its hir.alias, {buffer.name},"
        else:
            number = self.outline.output_of(result)
            if number is None or number not in self.given:
                return None
            buffer = self.given[number]
            what = f"the buffer that was handed in as {buffer.name}"
        if buffer.sizes != tuple(sizes):
            fault.fail(op, f"{what} is {text_of(buffer.sizes)}, and the result {text_of(sizes)}")
        check_writable(op, buffer)
        return buffer

    def allocate(
        self,
        op: ir.Operation,
        result: ir.Value,
        element: ElementType,
        sizes: Sequence[int],
        strides: Sequence[int],
        count: int,
        kind: str = "device",
    ) -> Buffer:
        """Fresh memory for `count` elements, filled with what makes mistakes show."""
        number = self.outline.output_of(result)
        what = "the buffer" if number is None else f"output '{self.outline.output_names[number]}'"
        name = f"{what} allocated at {fault.where(op)}"
        size = count * element.bytes
        try:
            allocation = self.interpreter.memory.allocate(
                size, name, kind, self.interpreter.device, result
            )
        except (RuntimeError, MemoryError) as error:
            fault.fail(op, f"{size} bytes cannot be allocated: {error}")
        assert allocation.memory is not None
        allocation.memory.fill_(POISON_BYTE[element.kind])
        flat = allocation.memory.view(dtype_of(element))
        return Buffer(flat.as_strided(tuple(sizes), tuple(strides), 0), element, allocation)


def is_written(buffer: Buffer) -> bool:
    """Returns whether every element was written."""
    written = buffer.allocation.written
    return written is None or bool(buffer.bytes_of(written).all())


def mark_written(buffer: Buffer) -> None:
    """Notes that every element was written."""
    if buffer.allocation.written is not None:
        buffer.bytes_of(buffer.allocation.written).fill_(True)


def check_writable(op: ir.Operation, buffer: Buffer) -> None:
    """Fails where a buffer that is written to is constant, or two elements share a place."""
    if buffer.allocation.owner is Owner.CONSTANT:
        fault.fail(op, f"the destination, {buffer.name}, is constant")
    if buffer.has_repeated_dim:
        fault.fail(
            op,
            f"the destination, {buffer.name}, has a repeated dim (stride 0): its elements "
            "share their memory",
        )

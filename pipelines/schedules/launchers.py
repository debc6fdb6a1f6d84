"""The hir.launchers of a module: what is done on the host for all operations of one structure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...dialects import hir
from ...dialects.hir.layout import DYNAMIC, strides_and_offset
from ...dialects.mlir import ir, memref
from ...dialects.records import dataclass
from ..dim_axis import dim_axis
from ..hir.runtime_sizes import size_value
from ..rewriting import index_constant
from ..symbols import fresh_name
from ..walking import is_used, operations_where
from .structure import Structure

# The number of the operation that a hir.run_launcher is of, where it was asked for.
OPERATION_NUMBER = "hirc.operation"
_ALLOCATE = "hir.allocate"
_DIM = "memref.dim"
_METADATA = "memref.extract_strided_metadata"


@dataclass(frozen=True)
class _Number:
    """A size or a stride of one of a structure's buffers."""

    place: int
    axis: int
    is_stride: bool

    def value(self, outer: Sequence[ir.Value]) -> ir.Value:
        """The number, read at the current insertion point."""
        buffer = outer[self.place]
        if not self.is_stride:
            return size_value(buffer, self.axis)
        read = list(memref.ExtractStridedMetadataOp(buffer).results)
        return read[2 + ir.MemRefType(buffer.type).rank + self.axis]


@dataclass(frozen=True)
class Launcher:
    """A hir.launcher; each argument is one of a structure's values, by its place, or a number."""

    name: str
    arguments: tuple[int | _Number, ...]

    def run(self, outer: Sequence[ir.Value], number: int | None = None) -> None:
        """Makes a hir.run_launcher for an operation that uses these values from outside.

        It is marked with the operation's number, where that is given.
        """
        values = [
            outer[each] if isinstance(each, int) else each.value(outer) for each in self.arguments
        ]
        run = ir.Operation.create(
            hir.RunLauncherOp.OPERATION_NAME,
            attributes={"launcher": ir.FlatSymbolRefAttr.get(self.name)},
            regions=1,
        )
        if number is not None:
            index = ir.IntegerType.get_signless(64)
            run.attributes[OPERATION_NUMBER] = ir.IntegerAttr.get(index, number)
        with ir.InsertionPoint(run.regions[0].blocks.append()):
            for value in values:
                ir.Operation.create(hir.ArgumentOp.OPERATION_NAME, operands=[value])


class Launchers:
    """Makes the launchers of a module, each after the program that it was first wanted in."""

    def __init__(self, module: ir.Operation) -> None:
        self._taken = {
            ir.StringAttr(op.operation.attributes["sym_name"]).value
            for op in module.regions[0].blocks[0]
            if "sym_name" in op.operation.attributes
        }
        self._program: ir.Operation | None = None
        self._last: ir.Operation | None = None

    def begin(self, program: ir.Operation) -> ir.Block:
        """The block of a launcher that `end` ends."""
        if self._last is None or self._program != program:
            self._program = self._last = program
        with ir.InsertionPoint.after(self._last):
            op = ir.Operation.create(hir.LauncherOp.OPERATION_NAME, regions=1)
        return op.regions[0].blocks.append()

    def end(self, block: ir.Block, structure: Structure, given: list[ir.Value]) -> Launcher | None:
        """Makes arguments of the values that stand in for a structure's; None if it does nothing.

        Sizes and strides that the launcher reads of buffers become arguments of their own: mostly
        a buffer is then but an address.
        """
        op = block.owner.operation
        launches = operations_where(op, lambda inner: inner.name == hir.LaunchOp.OPERATION_NAME)
        if not launches and not operations_where(op, lambda inner: inner.name == "cf.assert"):
            op.erase()
            return None
        self._last = op
        passed = _take_values(block, given)
        numbers = _take_numbers(block, structure, passed)
        arguments: list[int | _Number] = [*passed, *numbers]
        for number in reversed(range(len(arguments))):
            if not is_used(block.arguments[number]):
                block.erase_argument(number)
                del arguments[number]
        name = self._name(launches)
        op.attributes["sym_name"] = ir.StringAttr.get(name)
        return Launcher(name, tuple(arguments))

    def _name(self, launches: Sequence[ir.Operation]) -> str:
        kernels = [ir.SymbolRefAttr(each.attributes["kernel"]).value[-1] for each in launches]
        name = fresh_name(f"launch_{(*kernels, 'nothing')[0]}", self._taken.__contains__)
        self._taken.add(name)
        return name


def _take_values(block: ir.Block, given: Sequence[ir.Value]) -> list[int]:
    """Makes arguments of allocations that stand in for buffers; the place of each argument."""
    places: dict[int, int] = {}
    for place, value in enumerate(given):
        owner = value.owner
        argument = value
        if not isinstance(owner, ir.Block) and owner.operation.name == _ALLOCATE:
            argument = block.add_argument(value.type, value.location)
            value.replace_all_uses_with(argument)
            owner.operation.erase()
        if isinstance(argument, ir.BlockArgument):
            places[argument.arg_number] = place
    return [places[number] for number in range(len(block.arguments))]


def _take_numbers(block: ir.Block, structure: Structure, passed: Sequence[int]) -> list[_Number]:
    """Replaces what is read of open sizes and strides by arguments; equal ones are one."""
    taken: dict[Hashable, tuple[_Number, ir.Value]] = {}

    def read(number: _Number, known: int) -> ir.Value:
        if known != DYNAMIC:
            return index_constant(known)
        key: Hashable = number
        if not number.is_stride:
            key = structure.extents[number.place, number.axis]
        if key not in taken:
            here = block.owner.operation.location
            taken[key] = number, block.add_argument(ir.IndexType.get(), here)
        return taken[key][1]

    for argument, place in zip(list(block.arguments), passed, strict=True):
        if not isinstance(argument.type, ir.MemRefType):
            continue
        kind = ir.MemRefType(argument.type)
        known = [*kind.shape, *strides_and_offset(kind)[0]]
        for user in reversed(dict.fromkeys(use.owner.operation for use in argument.uses)):
            with user.location, ir.InsertionPoint(user):
                for result, number in _numbers_read(user, kind.rank):
                    if is_used(result):
                        axis, is_stride = number % kind.rank, number >= kind.rank
                        value = read(_Number(place, axis, is_stride), known[number])
                        result.replace_all_uses_with(value)
            if user.name in (_DIM, _METADATA) and not any(map(is_used, user.results)):
                user.erase()
    return [number for number, _ in taken.values()]


def _numbers_read(op: ir.Operation, rank: int) -> list[tuple[ir.Value, int]]:
    """Results that are sizes, numbered by the axis, or strides, numbered after the sizes."""
    if op.name == _METADATA:
        return [(result, number) for number, result in enumerate(list(op.results)[2:])]
    axis = dim_axis(op) if op.name == _DIM else None
    return [] if axis is None else [(op.results[0], axis)]

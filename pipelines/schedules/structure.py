"""What a linalg.generic is and what it stands among, without its place in the program."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from enum import Enum

from ...dialects import hir
from ...dialects.hir.layout import DYNAMIC, strides_and_offset
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.extents import Extent, extent_of

# So many steps back, what computes a number of the host is part of the structure.
_DEPTH = 2


class Known(Enum):
    """What a structure says of a value from outside, besides its type."""

    TYPE = "type"
    # The operation of arithmetic that computes it, such as a constant.
    COMPUTED = "computed"
    # A buffer that begins where the program's memory does.
    ALLOCATED = "allocated"


@dataclass(frozen=True)
class Structure:
    """An operation's `key`, equal for operations that differ in places and values alone.

    `outer` are the values from outside that it uses, and those that they are computed from. The
    key has them in this order, says which are equal, and has what is `known` of each. It is None
    of an operation whose kernel is its own: a check in its region says where it stands.
    `extents` numbers the open sizes of buffers, by their places in `outer` and their axes: those
    of one number are equal.
    """

    key: Hashable | None
    outer: tuple[ir.Value, ...]
    known: tuple[Known, ...]
    extents: Mapping[tuple[int, int], int]


class Structures:
    """Reads the structures of a module's operations on buffers."""

    def __init__(self) -> None:
        self._allocated: dict[ir.Value, bool] = {}
        self._extents: dict[tuple[ir.Value, int], Extent] = {}

    def read(self, op: ir.Operation) -> Structure:
        """An operation's structure, in time linear in its size."""
        reader = _Reader(self)
        reader.add(op)
        key = tuple(reader.key) if reader.is_shared else None
        return Structure(key, tuple(reader.outer), tuple(reader.known), reader.extents)

    def extent(self, buffer: ir.Value, axis: int) -> Extent:
        """Returns what a dim's size is; that of equal sizes is equal."""
        place = buffer, axis
        found = self._extents.get(place)
        if found is None:
            found = self._extents[place] = extent_of(buffer, axis)
        return found

    def is_allocated(self, buffer: ir.Value) -> bool:
        """Returns whether a buffer begins where the program's memory does, which is aligned."""
        passed: list[ir.Value] = []
        found = self._allocated.get(buffer)
        while found is None:
            passed.append(buffer)
            owner = buffer.owner
            if isinstance(owner, ir.Block) or _offset(buffer) != 0:
                found = False
            elif owner.operation.name == "hir.reuse":
                buffer = owner.operation.operands[0]
                found = self._allocated.get(buffer)
            else:
                found = owner.operation.name == "hir.allocate" and "output" not in owner.attributes
        self._allocated.update((each, found) for each in passed)
        return found


def stand_ins(structure: Structure, block: ir.Block) -> list[ir.Value]:
    """Defines values in `block` for those from outside; of them is known what the key says."""
    kinds = dict(zip(structure.outer, structure.known, strict=True))
    made: dict[ir.Value, ir.Value] = {}

    def make(value: ir.Value) -> ir.Value:
        if value not in made:
            made[value] = define(value)
        return made[value]

    def define(value: ir.Value) -> ir.Value:
        if kinds[value] is Known.ALLOCATED:
            name = hir.AllocateOp.OPERATION_NAME
            return ir.Operation.create(name, results=[value.type]).results[0]
        computing = _computing(value)
        if computing is not None and kinds[value] is Known.COMPUTED:
            operands = [make(operand) for operand in computing.operands]
            copy = computing.clone()
            for number, operand in enumerate(operands):
                copy.operands[number] = operand
            return copy.results[0]
        return block.add_argument(value.type, value.location)

    with ir.InsertionPoint(block):
        return [make(value) for value in structure.outer]


class _Reader:
    """Collects a key: names, attributes and types, and the number of each value's first mention."""

    def __init__(self, structures: Structures) -> None:
        self.key: list[Hashable] = []
        self.outer: list[ir.Value] = []
        self.known: list[Known] = []
        self.extents: dict[tuple[int, int], int] = {}
        self._numbers_of_extents: dict[Extent, int] = {}
        self.is_shared = True
        self._structures = structures
        self._numbers: dict[ir.Value, int] = {}

    def add(self, op: ir.Operation) -> None:
        """Adds an operation with its regions."""
        if op.name == "cf.assert" or len(op.successors):
            self.is_shared = False
        for operand in op.operands:
            self._use(operand, 0)
        self._mention(op)
        for region in op.regions:
            for block in region.blocks:
                self.key.append("block")
                for argument in block.arguments:
                    self._define(argument)
                for inner in block.operations:
                    self.add(inner.operation)
            self.key.append("end")

    def _mention(self, op: ir.Operation) -> None:
        self.key += (op.name, *op.attributes.items())
        for result in op.results:
            self._define(result)

    def _define(self, value: ir.Value) -> None:
        self._numbers[value] = len(self._numbers)
        self.key.append(value.type)

    def _use(self, value: ir.Value, depth: int) -> None:
        number = self._numbers.get(value)
        if number is not None:
            self.key.append(number)
            return
        place = len(self.outer)
        self.outer.append(value)
        self.known.append(Known.TYPE)
        op = _computing(value)
        if isinstance(value.type, ir.MemRefType):
            if self._structures.is_allocated(value):
                self.known[place] = Known.ALLOCATED
            self._add_extents(value, place)
        elif op is not None and (depth < _DEPTH or not len(op.operands)):
            self.known[place] = Known.COMPUTED
            for operand in op.operands:
                self._use(operand, depth + 1)
        self.key.append(self.known[place])
        if op is not None and self.known[place] is Known.COMPUTED:
            self._mention(op)
        else:
            self._define(value)

    def _add_extents(self, buffer: ir.Value, place: int) -> None:
        numbers = self._numbers_of_extents
        for axis, size in enumerate(ir.MemRefType(buffer.type).shape):
            if size == DYNAMIC:
                extent = self._structures.extent(buffer, axis)
                number = numbers.setdefault(extent, len(numbers))
                self.extents[place, axis] = number
                self.key.append(("extent", number))


def _offset(buffer: ir.Value) -> int:
    return strides_and_offset(ir.MemRefType(buffer.type))[1]


def _computing(value: ir.Value) -> ir.Operation | None:
    """The operation of arithmetic that gives a value from outside, or None."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not owner.operation.name.startswith(("arith.", "math.")):
        return None
    return owner.operation if len(owner.operation.results) == 1 else None

"""Which dims of a function's tensors are known to have the same size."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ...dialects.mlir import ir
from ..dim_axis import dim_axis
from .access import Access, reassociation
from .generic import GENERIC, accesses_of, outs_of

# What stands for all the dims of one size.
Size = Hashable

_CAST = "arith.index_cast"
# Of arith.cmpi: signed, below.
_LESS = 2
_SAME_SHAPE = ("linalg.fill", "linalg.copy", "tensor.cast", "tensor.insert_slice")


class Sizes:
    """The sizes of dims at the operations of one block, as far as they are equal.

    Knowledge comes from types, from what linalg operations demand of their operands, from the
    sizes that tensors are made with, and from assertions. It holds wherever the operations of the
    block, and of the blocks around it, have not failed. The operations are read when an open size
    is first asked for: in a program of known sizes, never.
    """

    def __init__(self, block: ir.Block) -> None:
        self._parents: dict[Hashable, Hashable] = {}
        self._unread: ir.Block | None = block

    def of(self, value: ir.Value, axis: int) -> Size:
        """Returns the size of a tensor's dim; equal sizes that are known to be so are equal."""
        shaped = ir.RankedTensorType(value.type)
        if not shaped.is_dynamic_dim(axis):
            return ("constant", shaped.shape[axis])
        if self._unread is not None:
            self._read(self._unread)
        return self._find(("dim", value, axis))

    def extents(self, accesses: list[Access], loops: int) -> tuple[Size, ...]:
        """Returns the numbers of iterations of the loops that index the accesses."""
        found: dict[int, Size] = {}
        for each in accesses:
            if isinstance(each.value.type, ir.RankedTensorType):
                for axis, loop in enumerate(each.index):
                    if isinstance(loop, int):
                        found.setdefault(loop, self.of(each.value, axis))
        return tuple(self._find(found[loop]) for loop in range(loops))

    @staticmethod
    def static(size: Size) -> int | None:
        """Returns the number that a size is, where it is known."""
        if isinstance(size, tuple) and size[0] == "constant":
            return int(size[1])
        return None

    def _read(self, block: ir.Block) -> None:
        self._unread = None
        for outer in _around(block):
            for op in outer:
                self._learn(op.operation)

    def _learn(self, op: ir.Operation) -> None:
        if op.name == GENERIC:
            self._learn_loops(op)
        if op.name.startswith("linalg.") and len(op.results):
            for result, out in zip(op.results, outs_of(op), strict=True):
                self._same_shape(result, out)
        elif op.name in _SAME_SHAPE:
            source = op.operands[1 if op.name == "tensor.insert_slice" else 0]
            self._same_shape(op.results[0], source)
        elif op.name == "tensor.empty":
            self._made_with(op.results[0], list(op.operands))
        elif op.name == "tensor.extract_slice":
            self._learn_slice(op)
        elif op.name == "tensor.dim":
            self._learn_dim(op)
        elif op.name == "tensor.expand_shape":
            self._made_with(op.results[0], list(op.operands)[1:])
            self._learn_reshape(op, op.results[0], op.operands[0])
        elif op.name == "tensor.collapse_shape":
            self._learn_reshape(op, op.operands[0], op.results[0])
        elif op.name == "cf.assert":
            self._learn_assertion(op.operands[0])

    def _learn_loops(self, op: ir.Operation) -> None:
        known: dict[int, Size] = {}
        for each in accesses_of(op):
            if not isinstance(each.value.type, ir.RankedTensorType):
                continue
            for axis, loop in enumerate(each.index):
                if isinstance(loop, int):
                    size = self.of(each.value, axis)
                    self._union(size, known.setdefault(loop, size))

    def _learn_dim(self, op: ir.Operation) -> None:
        value, number = op.operands[0], dim_axis(op)
        if number is not None and isinstance(value.type, ir.RankedTensorType):
            self._union(self._number(op.results[0]), self.of(value, number))

    def _learn_slice(self, op: ir.Operation) -> None:
        segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        sizes = list(op.operands)[1 + segments[1] : 1 + segments[1] + segments[2]]
        result = ir.RankedTensorType(op.results[0].type)
        if result.rank == ir.RankedTensorType(op.operands[0].type).rank:
            self._made_with(op.results[0], sizes)

    def _learn_reshape(self, op: ir.Operation, large: ir.Value, small: ir.Value) -> None:
        shape = ir.RankedTensorType(large.type).shape
        for axis, dims in enumerate(reassociation(op)):
            others = [dim for dim in dims if shape[dim] != 1]
            if len(others) == 1:
                self._union(self.of(large, others[0]), self.of(small, axis))

    def _learn_assertion(self, condition: ir.Value) -> None:
        if isinstance(condition.owner, ir.Block):
            return
        op = condition.owner.operation
        if op.name == "arith.andi":
            for each in op.operands:
                self._learn_assertion(each)
        if op.name == "arith.cmpi" and ir.IntegerAttr(op.attributes["predicate"]).value == 0:
            self._union(self._number(op.operands[0]), self._number(op.operands[1]))

    def _same_shape(self, one: ir.Value, other: ir.Value) -> None:
        both = (one.type, other.type)
        if all(isinstance(each, ir.RankedTensorType) for each in both):
            for axis in range(ir.RankedTensorType(one.type).rank):
                self._union(self.of(one, axis), self.of(other, axis))

    def _made_with(self, value: ir.Value, sizes: list[ir.Value]) -> None:
        """A tensor's dynamic dims have these sizes, in order."""
        shaped = ir.RankedTensorType(value.type)
        dynamic = [axis for axis in range(shaped.rank) if shaped.is_dynamic_dim(axis)]
        for axis, size in zip(dynamic, sizes, strict=True):
            self._union(self.of(value, axis), self._number(size))

    def _number(self, value: ir.Value) -> Size:
        """Returns the size that an index is."""
        value = _chosen(value)
        number = _constant(value)
        return self._find(("index", value) if number is None else ("constant", number))

    def _find(self, size: Hashable) -> Size:
        while size in self._parents:
            size = self._parents[size]
        return size

    def _union(self, one: Size, other: Size) -> None:
        one, other = self._find(one), self._find(other)
        if one == other:
            return
        # A number stands for what is equal to it.
        if self.static(one) is not None:
            one, other = other, one
        if self.static(one) is None:
            self._parents[one] = other


def _around(block: ir.Block) -> Iterator[ir.Block]:
    """Yields the block, and those of the operations around it, up to the function."""
    while True:
        yield block
        owner = block.owner.operation
        if owner.operation.name == "func.func" or owner.parent is None:
            return
        block = owner.block


def _chosen(value: ir.Value) -> ir.Value:
    """Returns the index that another one is, through casts and choices for sizes below 0."""
    while True:
        value = without_casts(value)
        if isinstance(value.owner, ir.Block):
            return value
        op = value.owner.operation
        if op.name != "arith.select" or not _is_negative_size(op.operands[0]):
            return value
        value = op.operands[2]


def without_casts(value: ir.Value) -> ir.Value:
    """Returns the index that a number is a cast of; the number itself where there is none."""
    found = value
    while not isinstance(found.owner, ir.Block) and found.owner.operation.name == _CAST:
        found = found.owner.operation.operands[0]
        # Between there are integers, of 64 bits where a size is not to be cut.
        if isinstance(found.type, ir.IntegerType) and found.type.width < 64:
            return value
    return found if isinstance(found.type, ir.IndexType) else value


def _is_negative_size(condition: ir.Value) -> bool:
    """Returns whether a condition is that a tensor's size is below 0, which it never is."""
    if isinstance(condition.owner, ir.Block) or condition.owner.operation.name != "arith.cmpi":
        return False
    op = condition.owner.operation
    size = without_casts(op.operands[0])
    is_size = not isinstance(size.owner, ir.Block) and size.owner.operation.name == "tensor.dim"
    is_less = ir.IntegerAttr(op.attributes["predicate"]).value == _LESS
    return is_size and is_less and _constant(op.operands[1]) == 0


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None

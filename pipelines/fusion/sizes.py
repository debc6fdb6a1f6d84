"""Which dims of a function's tensors are known to have the same size."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ...dialects.mlir import ir
from ..constants import constant_value
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
    sizes that tensors are made with, from assertions, and from names that a function's sizes have
    in common. It holds wherever the operations of the block, and of the blocks around it, have not
    failed. The operations are read when an open size is first asked for: in a program of known
    sizes, never.
    """

    def __init__(self, block: ir.Block) -> None:
        self._parents: dict[Hashable, Hashable] = {}
        self._choices: dict[ir.Value, ir.Value] = {}
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
        for outer in reversed(list(_around(block))):
            self._learn_names(outer)
            for op in outer:
                self._learn(op.operation)

    def _learn_names(self, block: ir.Block) -> None:
        """Equates sizes of a function's arguments that have one name: the program checks them."""
        function = block.owner.operation
        if function.name != "func.func" or "arg_attrs" not in function.attributes:
            return
        given = ir.ArrayAttr(function.attributes["arg_attrs"])
        for argument, attributes in zip(block.arguments, map(ir.DictAttr, given), strict=True):
            if "hir.sizes" in attributes and isinstance(argument.type, ir.RankedTensorType):
                for axis, name in enumerate(ir.ArrayAttr(attributes["hir.sizes"])):
                    if isinstance(name, ir.StringAttr):
                        self._union(self.of(argument, axis), ("name", name.value))

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
            self._union(self.number(op.results[0]), self.of(value, number))

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
            self._union(self.number(op.operands[0]), self.number(op.operands[1]))

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
            self._union(self.of(value, axis), self.number(size))

    def number(self, value: ir.Value) -> Size:
        """Returns the size that an index is."""
        value = self._chosen(value)
        number = constant_value(value)
        return self._find(("index", value) if number is None else ("constant", number))

    def _chosen(self, value: ir.Value) -> ir.Value:
        """Returns the index that a value equals, through casts and selects, such as those that
        clamp the size of a slice to its tensor's.
        """
        if isinstance(value.owner, ir.Block) or _is_cut(value):
            return value
        if value not in self._choices:
            chosen = self._choice(value.owner.operation)
            self._choices[value] = value if chosen is None else self._chosen(chosen)
        return self._choices[value]

    def _choice(self, op: ir.Operation) -> ir.Value | None:
        """Returns the operand that an operation's result certainly equals, or None."""
        if op.name == _CAST:
            return None if _is_cut(op.operands[0]) else op.operands[0]
        if op.name == "arith.select":
            return op.operands[2] if self._is_negative_size(op.operands[0]) else None
        if op.name not in ("arith.minsi", "arith.maxsi", "arith.subi"):
            return None
        one, other = op.operands
        if op.name == "arith.subi":
            return one if self._is_zero(other) else None
        if self.number(one) == self.number(other):
            return one
        if self._is_zero(one):
            one, other = other, one
        if not self._is_zero(other) or not self._is_size(one):
            return None
        return other if op.name == "arith.minsi" else one

    def _is_zero(self, value: ir.Value) -> bool:
        return self.number(value) == ("constant", 0)

    def _is_size(self, value: ir.Value) -> bool:
        """Returns whether an index is the size of a tensor's dim, which is never below 0."""
        owner = self._chosen(value).owner
        return not isinstance(owner, ir.Block) and owner.operation.name == "tensor.dim"

    def _is_negative_size(self, condition: ir.Value) -> bool:
        """Returns whether a condition is that a tensor's size is below 0, which never holds."""
        if isinstance(condition.owner, ir.Block) or condition.owner.operation.name != "arith.cmpi":
            return False
        op = condition.owner.operation
        is_less = ir.IntegerAttr(op.attributes["predicate"]).value == _LESS
        return is_less and self._is_zero(op.operands[1]) and self._is_size(op.operands[0])

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


def without_casts(value: ir.Value) -> ir.Value:
    """Returns the index that a number is a cast of; the number itself where there is none."""
    found = value
    while not isinstance(found.owner, ir.Block) and found.owner.operation.name == _CAST:
        found = found.owner.operation.operands[0]
        # Between there are integers, of 64 bits where a size is not to be cut.
        if _is_cut(found):
            return value
    return found if isinstance(found.type, ir.IndexType) else value


def _is_cut(value: ir.Value) -> bool:
    """Returns whether a number has too few bits for any size."""
    return isinstance(value.type, ir.IntegerType) and value.type.width < 64

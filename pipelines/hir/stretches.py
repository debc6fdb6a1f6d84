"""Stretches of compute operations that may be computed at one place, in any order.

A stretch is in one block. Nothing that it reads is written, and nothing is launched, between its
first operation and its last. What stands between them is computed before it or, where it takes
what the stretch gives, after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.element_types import find_element_type
from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from .compute_ops import (
    COMPUTE_OPS,
    ELEMENTWISE_OPS,
    destination_of,
    inputs_of,
    output_of,
)
from .extents import Known, extent_of
from .memory.owners import Owners
from .operand_axes import operand_axes

# Operations that write nothing but fresh memory, and wait for nothing.
_TRANSPARENT = frozenset(
    {
        *("hir.select", "hir.slice", "hir.permute", "hir.reshape", "hir.expand"),
        *("hir.allocate", "hir.output", "memref.dim", "cf.assert"),
    }
)
_TRANSPARENT_DIALECTS = ("arith.", "math.", "index.")
_PLACES = ("argmin", "argmax")


@dataclass(frozen=True)
class Stretch:
    """Compute operations in their order, and what between them is to come after them."""

    members: Sequence[ir.Operation]
    after: Sequence[ir.Operation]


def stretches_in(block: ir.Block, owners: Owners, known: Known) -> list[Stretch]:
    """Returns the stretches of a block, in order, of one operation or more each.

    A member is elementwise or reduces, and its operands have the sizes of its result wherever they
    do not broadcast by their types. The last may have a destination, in memory that no member
    reads. `owners` are the program's; `known` takes up the sizes found.
    """
    finder = _Finder(owners, known)
    for op in block:
        finder.visit(op.operation)
    finder.end()
    return finder.found


class _Finder:
    def __init__(self, owners: Owners, known: Known) -> None:
        self.found: list[Stretch] = []
        self._owners = owners
        self._known = known
        self._members: list[ir.Operation] = []
        # Operations since the first member that need what it, or a later one, gives.
        self._late: list[ir.Operation] = []
        self._of_late, self._of_members = set[ir.Value](), set[ir.Value]()
        # Those before the last member.
        self._after = 0

    def visit(self, op: ir.Operation) -> None:
        is_computed = op.name in COMPUTE_OPS
        is_fresh = is_computed and len(op.results) == 1
        if _is_aliased(op) or not (is_computed or _is_transparent(op)):
            self.end()
        elif is_computed and self._may_join(op):
            self._join(op, is_fresh=is_fresh)
        elif not is_fresh and is_computed:
            self.end()
        elif any(each in self._of_members or each in self._of_late for each in op.operands):
            self._late.append(op)
            self._of_late.update(op.results)

    def end(self) -> None:
        """Ends the stretch: what follows joins another one."""
        if self._members:
            self.found.append(Stretch(self._members, self._late[: self._after]))
        self._members, self._late, self._after = [], [], 0
        self._of_late, self._of_members = set(), set()

    def _join(self, op: ir.Operation, *, is_fresh: bool) -> None:
        if any(operand in self._of_late for operand in op.operands):
            self.end()
        if is_fresh or self._writes_elsewhere(op):
            self._members.append(op)
            self._of_members.update(op.results)
            self._after = len(self._late)
        if not is_fresh:
            self.end()

    def _writes_elsewhere(self, op: ir.Operation) -> bool:
        """Returns whether a destination lies in other memory than what is made or read until it is
        written.

        That is what members read, `op`, and what is computed after them of what they give.
        """
        readers = (*self._members, op, *(late for late in self._late if late.name in COMPUTE_OPS))
        if output_of(op) in self._of_members:
            return False
        written = self._owners.roots(output_of(op))
        read = [
            self._owners.roots(operand)
            for reader in readers
            for operand in inputs_of(reader)
            if isinstance(operand.type, ir.MemRefType)
        ]
        # Of what a C function gives it is not known where it lies.
        return bool(written) and all(roots and not roots & written for roots in read)

    def _may_join(self, op: ir.Operation) -> bool:
        if op.name not in ELEMENTWISE_OPS and op.name != "hir.reduce":
            return False
        if "stream_axis" in op.attributes or not all(map(_is_stored, (*op.operands, *op.results))):
            return False
        is_fresh = destination_of(op) is None
        if op.name == "hir.set" and is_fresh and _is_copy(op):
            return False
        if not any(isinstance(operand.type, ir.MemRefType) for operand in inputs_of(op)):
            return False
        if op.name == "hir.reduce" and not _reduces_some(op):
            return False
        shape = ir.MemRefType(output_of(op).type).shape
        return all(self._has_one_size(op, axis, size) for axis, size in enumerate(shape))

    def _has_one_size(self, op: ir.Operation, axis: int, size: int) -> bool:
        """Returns whether operands have a result's size in a dim, or 1 in their types."""
        extents = {
            extent_of(operand, place, self._known)
            for operand, place in operand_axes(op, axis)
            if ir.MemRefType(operand.type).shape[place] != 1
        }
        if size == 1 and not extents:
            return True
        return extents == {extent_of(output_of(op), axis, self._known)}


def _is_aliased(op: ir.Operation) -> bool:
    """Returns whether a result lies in memory that another operation names, or is such memory."""
    return any(
        use.owner.operation.name == "hir.alias" for result in op.results for use in result.uses
    )


def _is_transparent(op: ir.Operation) -> bool:
    if op.name in COMPUTE_OPS:
        return len(op.results) == 1
    return op.name in _TRANSPARENT or op.name.startswith(_TRANSPARENT_DIALECTS)


def _is_stored(value: ir.Value) -> bool:
    """Returns whether an operand's elements are stored in the type that the program says."""
    kind = value.type
    if isinstance(kind, ir.IndexType):
        return True
    element = find_element_type(kind.element_type if isinstance(kind, ir.MemRefType) else kind)
    return element is not None and element.stored_as == element.name and element.kind != "complex"


def _is_copy(op: ir.Operation) -> bool:
    """Returns whether a hir.set only copies elements, to a buffer that is written to later."""
    source, result = op.operands[0].type, ir.MemRefType(op.results[0].type)
    return isinstance(source, ir.MemRefType) and source.element_type == result.element_type


def _reduces_some(op: ir.Operation) -> bool:
    """Returns whether a reduction has elements as far as it matters.

    Of none on tensors nothing is computed. Those that ask for a place must have one for certain.
    """
    shape = ir.MemRefType(op.operands[0].type).shape
    is_place = ir.StringAttr(op.attributes["kind"]).value in _PLACES
    return 0 not in shape and not (is_place and DYNAMIC in shape)

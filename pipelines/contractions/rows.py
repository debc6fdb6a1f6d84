"""Rows of terms that begin where the copy engine (TMA) takes them: at multiples of 16 bytes.

They get multiples of 32: rows that begin within sectors of the caches take twice as long. Where a
tensor is computed by an operation of the program, this one writes to wider rows: what lies between
two of them is neither written nor read. Others are copied, where that pays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access
from ..fusion.generic import GENERIC, accesses_of, inputs_of, outs_of, reducing_loops
from ..products.wide_weights import part_of
from ..schedules.elements import SECTOR_BYTES, element_bytes
from ..walking import made_by, operations_where
from .channels import TOGETHER_BYTES, copied_to, is_whole_across, pays

_EXTRACT = "tensor.extract"


@dataclass(frozen=True, eq=False)
class _Factor:
    """A tensor that a contraction reads, and the loop of terms that is its last dim.

    `read` is how it is read where it is an operand.
    """

    value: ir.Value
    term: int | None
    read: Access | None = None

    @property
    def kind(self) -> ir.RankedTensorType:
        return ir.RankedTensorType(self.value.type)

    @property
    def row_bytes(self) -> int:
        return self.kind.shape[-1] * element_bytes(self.kind.element_type)

    @property
    def wide(self) -> ir.RankedTensorType:
        """The type with rows that begin with sectors."""
        *outer, row = self.kind.shape
        multiple = SECTOR_BYTES // element_bytes(self.kind.element_type)
        wide = -(-row // multiple) * multiple
        return ir.RankedTensorType.get([*outer, wide], self.kind.element_type)

    def is_across(self, term: int) -> bool:
        """Returns whether it is read where the terms lie apart."""
        return (
            self.read is not None and term in self.read.index and is_whole_across(self.read, term)
        )


def widen_term_rows(op: ir.Operation, *, is_rounded: bool) -> None:
    """Lets factors of a contraction have rows of terms that begin with sectors of the caches.

    Inputs are copied for it where their rows begin at no multiples of 16 bytes. Does nothing where
    tensor cores multiply no such elements, f32 only if it `is_rounded`; where the terms of neither
    factor are neighbours, or the other one cannot be read; where rows are shorter than a sector; or
    where copies take longer than they save.
    """
    factors = list(_factors(op))
    if len(factors) != 2 or not all(
        each.kind.has_static_shape and each.kind.rank > 1 for each in factors
    ):
        return
    sizes = {element_bytes(each.kind.element_type) for each in factors}
    if sizes not in ([{1}, {2}, {4}] if is_rounded else [{1}, {2}]):
        return
    (term, *more) = {each.term for each in factors if each.term is not None} or {None}
    if term is None or more:
        return
    if not all(each.term == term or each.is_across(term) for each in factors):
        return
    along = [each for each in factors if each.term == term]
    if along[0].row_bytes < SECTOR_BYTES:
        return
    makers = {each: _maker(each.value) for each in along}
    copied = [
        each.kind for each in along if makers[each] is None and each.row_bytes % TOGETHER_BYTES
    ]
    if copied and not pays(op, term, _columns(op, factors), copied):
        return
    for each, maker in makers.items():
        if maker is not None and each.row_bytes % SECTOR_BYTES:
            _write_to(maker, each.wide)
        elif maker is None and each.row_bytes % TOGETHER_BYTES:
            _copy_to(op, each.value, each.wide)


def _factors(op: ir.Operation) -> Iterator[_Factor]:
    """Yields the tensors of whose elements products are made."""
    terms = set(reducing_loops(op))
    for read in accesses_of(op)[: len(inputs_of(op))]:
        if set(read.loops) & terms:
            last = read.index[-1]
            term = last if isinstance(last, int) and last in terms else None
            yield _Factor(read.value, term, read)
    for inner in operations_where(op, lambda each: each.name == _EXTRACT):
        last = inner.operands[len(inner.operands) - 1].owner
        term = None
        if not isinstance(last, ir.Block) and last.operation.name == "linalg.index":
            term = ir.IntegerAttr(last.operation.attributes["dim"]).value
        yield _Factor(inner.operands[0], term if term in terms else None)


def _columns(op: ir.Operation, factors: Sequence[_Factor]) -> set[int]:
    """Returns the loops of results along which the last operand is read, but the first one not."""
    reads = [set(each.read.loops) - set(reducing_loops(op)) for each in factors if each.read]
    return reads[-1].difference(*reads[:-1]) if reads else set()


def _maker(value: ir.Value) -> ir.Operation | None:
    """Returns the operation that computes a tensor, if it may write it to wider rows."""
    op = made_by(value, GENERIC)
    may_write = (
        op is not None
        and len(op.results) == 1
        and made_by(outs_of(op)[0], "tensor.empty") is not None
        and all(_reads_elements(use) for use in value.uses)
    )
    return op if may_write else None


def _reads_elements(use: ir.OpOperand) -> bool:
    """Returns whether a tensor is read element by element, wherever these are."""
    op = use.owner.operation
    if op.name == GENERIC:
        return use.operand_number < len(inputs_of(op))
    return op.name == _EXTRACT


def _write_to(op: ir.Operation, wide: ir.RankedTensorType) -> None:
    """Lets an operation write its result to wider rows."""
    with op.location, ir.InsertionPoint(op):
        op.operands[len(op.operands) - 1] = _room(ir.RankedTensorType(op.results[0].type), wide)


def _room(kind: ir.RankedTensorType, wide: ir.RankedTensorType) -> ir.Value:
    """Returns memory for a tensor in wider rows."""
    return part_of(ir.Operation.create("tensor.empty", results=[wide]).results[0], kind)


def _copy_to(op: ir.Operation, value: ir.Value, wide: ir.RankedTensorType) -> None:
    """Lets an operation read a copy of a tensor in wider rows."""
    kind = ir.RankedTensorType(value.type)
    with op.location, ir.InsertionPoint(op):
        copy = copied_to(_room(kind, wide), value, range(kind.rank))
    for reader in (op, *operations_where(op, lambda each: each.name == _EXTRACT)):
        for number, operand in enumerate(reader.operands):
            if operand == value:
                reader.operands[number] = copy

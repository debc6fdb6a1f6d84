"""Rows of terms that begin where the copy engine (TMA) takes them: at multiples of 16 bytes.

They get multiples of 32: rows that begin within sectors of the caches take twice as long. Where a
tensor is computed by an operation of the program, this one writes to wider rows: what lies between
two of them is neither written nor read. Others are copied, where that pays.

A step of terms that goes beyond the end of a row takes the copy engine two to three times as long
as others. Where it pays, both factors that are computed get rows of whole steps, which end with
zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access
from ..fusion.generic import GENERIC, accesses_of, inputs_of, outs_of, reducing_loops
from ..rewriting import constant
from ..schedules.elements import SECTOR_BYTES, element_bytes
from ..schedules.warpgroup_matrices import ROW_BYTES
from ..tensors import copied_to, fill, part_of, put_in
from ..walking import made_by, operations_where
from .channels import TOGETHER_BYTES, is_whole_across, pays, pays_whole_rows

_EXTRACT, _INDEX = "tensor.extract", "linalg.index"


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
        return self.in_multiples_of(SECTOR_BYTES)

    def in_multiples_of(self, bytes_: int) -> ir.RankedTensorType:
        """Returns the type with rows of so many bytes, or several times as many."""
        *outer, row = self.kind.shape
        multiple = bytes_ // element_bytes(self.kind.element_type)
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
    columns = _columns(op, factors)
    if _may_be_whole(op, term, makers) and pays_whole_rows(
        op, term, columns, [each.kind for each in makers]
    ):
        for each, maker in makers.items():
            assert maker is not None
            _write_whole(op, each, maker)
        return
    if copied and not pays(op, term, columns, copied):
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
        if not isinstance(last, ir.Block) and last.operation.name == _INDEX:
            term = _dim(last.operation)
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


def _may_be_whole(
    op: ir.Operation, term: int, makers: Mapping[_Factor, ir.Operation | None]
) -> bool:
    """Returns whether both factors of a contraction may get terms of zeros.

    It alone reads what their makers write, and does so by the number of the term.
    """
    inside = [op, *operations_where(op, lambda each: each.name == _EXTRACT)]
    for each, maker in makers.items():
        if maker is None or not all(use.owner.operation in inside for use in each.value.uses):
            return False
    numbers = operations_where(op, lambda each: each.name == _INDEX and _dim(each) == term)
    return len(makers) == 2 and all(
        use.owner.operation.name == _EXTRACT for each in numbers for use in each.results[0].uses
    )


def _dim(index: ir.Operation) -> int:
    return ir.IntegerAttr(index.attributes["dim"]).value


def _write_whole(op: ir.Operation, factor: _Factor, maker: ir.Operation) -> None:
    """Lets an operation write to rows of whole steps, and the contraction read these.

    The last step of each is filled with zeros before: it begins where stores of several elements
    do.
    """
    kind, whole = factor.kind, factor.in_multiples_of(ROW_BYTES)
    last = kind.rank - 1
    step = ROW_BYTES // element_bytes(kind.element_type)
    end = ir.RankedTensorType.get([*kind.shape[:last], step], kind.element_type)
    with maker.location, ir.InsertionPoint(maker):
        room = ir.Operation.create("tensor.empty", results=[whole]).results[0]
        begin = {last: whole.shape[last] - step}
        zero = constant(kind.element_type, 0.0)
        room = put_in(fill(zero, part_of(room, end, starts=begin)), room, starts=begin)
        maker.operands[len(maker.operands) - 1] = part_of(room, kind)
    with maker.location, ir.InsertionPoint.after(maker):
        full = put_in(maker.results[0], room)
    for reader in (op, *operations_where(op, lambda each: each.name == _EXTRACT)):
        for number, operand in enumerate(reader.operands):
            if operand == factor.value:
                reader.operands[number] = full


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

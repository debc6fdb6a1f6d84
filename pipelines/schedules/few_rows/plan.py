"""What a sum of products is to the kernel of few rows: which loops are rows, columns and terms."""

from __future__ import annotations

from functools import cached_property

from ....dialects.hir.loop_operation import kind_of
from ....dialects.records import dataclass
from ...walking import is_used
from ..collective import levels_of
from ..region import Region
from ..region_operations import is_harmless
from ..size import ONE, ZERO, Size, product
from ..work import Operand, Work
from .configuration import Along, FewRowsConfiguration

_SUMS = ("addf", "addi")
# What is computed of each term: more is no product.
_MOST_OPERATIONS = 64


@dataclass(frozen=True)
class FewRows:
    """Sums over `terms` of what one operand, the `weight`, has for each of `columns`, and others
    for each of `rows`, which are few.

    `terms` is one loop; columns are outermost first, in the order of the first output. Neighbours
    in the weight's memory are terms of a sum, or columns.
    """

    work: Work
    weight: Operand
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    terms: int
    along: Along

    @cached_property
    def region(self) -> Region:
        """The region, of which nothing is computed."""
        return Region(self.work)

    @property
    def summed(self) -> list[Operand]:
        """The operands that sums read."""
        return [operand for operand in self.work.inputs if self._is_summed(operand)]

    @property
    def weights(self) -> list[Operand]:
        """The weight, and others that differ along the same loops: of further sums."""
        own = [stride != ZERO for stride in self.weight.strides]
        return [
            operand
            for operand in self.summed
            if [stride != ZERO for stride in operand.strides] == own
        ]

    def _is_summed(self, operand: Operand) -> bool:
        argument = self.work.block.arguments[operand.number]
        waiting = [op.operands[0] for op in self.work.collectives]
        while waiting:
            value = waiting.pop()
            if value == argument:
                return True
            waiting += self.region.needs(value)
        return False

    def extent(self, loops: tuple[int, ...]) -> Size:
        """Returns how many iterations loops have together."""
        return product([self.work.extents[loop] for loop in loops])

    def run(self, operand: Operand, made: FewRowsConfiguration) -> tuple[int | None, int]:
        """The loop along which a thread reads neighbours of an operand at once, and how many."""
        inner = self.columns[-1]
        if operand.strides[self.terms] == ONE:
            return self.terms, made.terms
        if operand.strides[inner] == ONE and self.along is Along.COLUMNS:
            return inner, made.columns
        return None, 1


def read_few_rows(work: Work) -> FewRows | None:
    """Returns how the kernel of few rows computes an operation; None for other kinds."""
    terms = [loop for loop in work.collective if work.extents[loop] != ONE]
    ops = work.collectives
    if len(terms) != 1 or len(levels_of(work)) != 1 or not is_harmless(work):
        return None
    if any(op.name != "hir.reduce_loops" or kind_of(op) not in _SUMS for op in ops):
        return None
    if len(list(work.block)) > _MOST_OPERATIONS:
        return None
    region, loops = Region(work), [loop for loop in work.parallel if work.extents[loop] != ONE]
    varying = [region.varies(op.operands[0]) for op in ops]
    if any(not {*loops, terms[0]} <= found for found in varying):
        return None
    if any(region.varies(value) & {*work.collective} for value in region.yielded):
        return None
    if any(output.strides[terms[0]] != ZERO for output in work.outputs):
        return None
    weight = _largest(work, loops, terms[0])
    if weight is None:
        return None
    rows = tuple(loop for loop in loops if weight.strides[loop] == ZERO)
    columns = [loop for loop in loops if weight.strides[loop] != ZERO]
    if not rows or not columns:
        return None
    output = work.outputs[0]
    columns.sort(key=lambda loop: _stride_key(output.strides[loop]))
    if weight.strides[terms[0]] == ONE:
        along = Along.TERMS
    elif weight.strides[columns[-1]] == ONE:
        along = Along.COLUMNS
    else:
        return None
    return FewRows(work, weight, rows, tuple(columns), terms[0], along)


def _stride_key(stride: Size) -> tuple[int, int]:
    return -len(stride.open), -abs(stride.known)


def _largest(work: Work, loops: list[int], terms: int) -> Operand | None:
    """The operand that has most elements, of those that differ from term to term."""
    found: list[tuple[tuple[int, int], Operand]] = []
    for operand in work.inputs:
        if operand.strides[terms] == ZERO or not is_used(work.block.arguments[operand.number]):
            continue
        sizes = [work.extents[loop] for loop in loops if operand.strides[loop] != ZERO]
        whole = product(sizes)
        found.append(((whole.known, len(whole.open)), operand))
    return max(found, key=lambda each: each[0])[1] if found else None

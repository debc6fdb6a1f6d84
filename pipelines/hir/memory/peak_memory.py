"""The most memory that a program holds at once, as the allocator sees it."""

from __future__ import annotations

from dataclasses import field

from ....dialects.hir.region_arguments import arguments_of, destination_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from .formula import Formula, maximum, one_maximum
from .owners import Owners, Root, callee_of, is_buffer
from .size_formulas import SizeFormulas


@dataclass(frozen=True)
class PeakMemory:
    """Bytes, None where they depend on sizes that are not known; `text` is a formula of these."""

    bytes: int | None
    text: str


def follow_memory(program: ir.Operation) -> MemoryProfile:
    """Returns what a hir.program holds at every place."""
    return MemoryProfile(program, SizeFormulas(), frozenset())


def peak_memory(program: ir.Operation) -> PeakMemory:
    """Returns the peak of a hir.program whose memory is allocated and freed explicitly.

    The sum of the bytes of the hir.allocates that live at once, those of its outputs among them. Of
    two branches the greater counts, a loop is taken to run, and a hir.call has the callee's peak on
    top of what is held around it.
    """
    formulas = follow_memory(program).peaks
    known = formulas[0].known if len(formulas) == 1 else None
    texts = sorted(map(str, formulas))
    return PeakMemory(known, texts[0] if len(texts) == 1 else f"max({', '.join(texts)})")


@dataclass
class MemoryProfile:
    """What one program, or one call of it, holds while it runs.

    `given` are the outputs that buffers are handed in for. `held` has the bytes of every life,
    `at` for every operation what is held at most while it runs; `peaks` are formulas the greatest
    of which is the program's peak.
    """

    op: ir.Operation
    sizes: SizeFormulas
    given: frozenset[int]
    held: dict[Root, Formula] = field(default_factory=dict[Root, Formula])
    at: dict[ir.Operation, list[Formula]] = field(default_factory=dict[ir.Operation, list[Formula]])
    peaks: list[Formula] = field(default_factory=lambda: [Formula()])

    def __post_init__(self) -> None:
        self._owners = Owners(self.op)
        self._block(self._owners.block, Formula())

    def held_output(self, number: int) -> Formula:
        """Returns the bytes that are the caller's to free afterwards."""
        roots = self._owners.outputs()[number]
        return one_maximum([self.held.get(root, Formula()) for root in roots] or [Formula()])

    def _block(self, block: ir.Block, live: Formula) -> Formula:
        """Follows a block; what is held at its end."""
        for view in block:
            op, outer = view.operation, self.peaks
            self.peaks = [live]
            live = self._step(op, live)
            self.at[op] = self.peaks
            self.peaks = maximum(self.peaks, outer)
        return live

    def _step(self, op: ir.Operation, live: Formula) -> Formula:
        if op.name == "hir.allocate":
            output = op.attributes.get("output")
            if isinstance(output, ir.IntegerAttr) and output.value in self.given:
                self.held[Root(op.results[0])] = Formula()
                return live
            return self._hold(Root(op.results[0]), self.sizes.bytes_of(op), live)
        if op.name == "hir.reuse":
            roots = self._owners.roots(op.operands[0])
            taken = [self.held.get(root, Formula()) for root in roots]
            self.held[Root(op.results[0])] = one_maximum(taken or [Formula()])
            return live
        if op.name == "hir.deallocate":
            freed = [self.held.get(root, Formula()) for root in self._owners.roots(op.operands[0])]
            return live - one_maximum(freed or [Formula()])
        if op.name == "hir.for":
            return self._block(op.regions[0].blocks[0], live)
        if op.name == "hir.if":
            return self._branches(op, live)
        if op.name == "hir.call":
            return self._call(op, live)
        for root in self._owners.made_by(op):
            live = self._hold(root, self.sizes.bytes_of_packed(root.value), live)
        return live

    def _hold(self, root: Root, size: Formula, live: Formula) -> Formula:
        self.held[root] = size
        live = live + size
        self.peaks = maximum([live], self.peaks)
        return live

    def _branches(self, op: ir.Operation, live: Formula) -> Formula:
        """What a branch gives out is held from there on; the greater of the two counts."""
        given: dict[Root, list[Formula]] = {}
        ends: list[Formula] = []
        for region in op.regions:
            end = self._block(region.blocks[0], live)
            for inner, outer in self._owners.given_out(op, region).items():
                size = self.held.get(inner, Formula())
                given.setdefault(outer, []).append(size)
                end = end - size
            ends.append(end)
        end = one_maximum(ends)
        for root, sizes in given.items():
            self.held[root] = one_maximum(sizes)
            end = end + self.held[root]
        return end

    def _call(self, op: ir.Operation, live: Formula) -> Formula:
        callee = callee_of(op)
        if callee is None:
            return live
        arguments = arguments_of(op.regions[0])
        inputs = [each.operands[0] for each in arguments if destination_of(each) is None]
        given = [destination_of(each) for each in arguments]
        known: dict[tuple[int, int], Formula] = {}
        for number, value in enumerate(inputs):
            if is_buffer(value):
                for axis in range(ir.MemRefType(value.type).rank):
                    known[number, axis] = self.sizes.dim(value, axis)
            elif isinstance(value.type, ir.IndexType | ir.IntegerType):
                known[number, -1] = self.sizes.index(value)
        handed_in = frozenset(number for number in given if number is not None)
        run = MemoryProfile(callee, SizeFormulas(known), handed_in)
        self.peaks = maximum((live + peak for peak in run.peaks), self.peaks)
        for root in self._owners.made_by(op):
            self.held[root] = run.held_output(root.index or 0)
            live = live + self.held[root]
        return live

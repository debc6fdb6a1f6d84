"""Operations that compute a part of what a contraction does, which then is several kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ....dialects import hir
from ....dialects.hir.loop_operation import loops_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...generics import Mapped, emit_generic
from ...hir.memory.scratch_memory import SCRATCH
from ...walking import operations_where
from ..region_operations import cloned, is_outside, needed_by
from ..size import OpenNumbers, Size
from ..work import Work


def allocate(sizes: Sequence[Size], element: ir.Type, open_: OpenNumbers) -> ir.Value:
    """Emits a buffer between such operations."""
    shape = [size.known if size.is_known else ir.ShapedType.get_dynamic_size() for size in sizes]
    return ir.Operation.create(
        hir.AllocateOp.OPERATION_NAME,
        results=[ir.MemRefType.get(shape, element)],
        operands=[open_.value(size) for size in sizes if not size.is_known],
        attributes={SCRATCH: ir.UnitAttr.get()},
    ).results[0]


def operations_in(work: Work) -> list[ir.Operation]:
    """Returns the operations of its region."""
    return [each.operation for each in work.block]


def input_count(work: Work) -> int:
    """Returns how many operands it reads."""
    return len(list(work.block.arguments)) - len(operations_in(work)[-1].operands)


@dataclass(frozen=True)
class Part:
    """An operation that computes some of what another one does, in `loops` of its own.

    `names` has which of these the other's are, as far as there are any; it goes along the
    `reduced`, and has the other's attributes of the names in `kept`.
    """

    work: Work
    names: Mapping[int, int]
    loops: int
    reduced: Sequence[int]
    kept: Sequence[str] = ()

    def emit(
        self,
        outputs: Sequence[int],
        begun: Mapping[ir.Value, Mapped],
        begin: Callable[[Sequence[ir.Value]], Sequence[ir.Value]] = list,
    ) -> ir.Operation:
        """Computes outputs, by their places, of what `begin` makes of elements of buffers."""
        end, first = operations_in(self.work)[-1], input_count(self.work)
        written = [self._mapped(first + at) for at in outputs]
        return self._emit([end.operands[at] for at in outputs], written, begun, begin)

    def emit_to(self, value: ir.Value, output: Mapped) -> ir.Operation:
        """Computes a value."""
        return self._emit([value], [output], {}, list)

    def _emit(
        self,
        values: Sequence[ir.Value],
        outputs: Sequence[Mapped],
        begun: Mapping[ir.Value, Mapped],
        begin: Callable[[Sequence[ir.Value]], Sequence[ir.Value]],
    ) -> ir.Operation:
        arguments = list(self.work.block.arguments)[: input_count(self.work)]
        needed = self._needed(values, begun)
        numbers = [at for at, each in enumerate(arguments) if each in needed]
        read = [arguments[at] for at in numbers]

        def body(given: Sequence[ir.Value]) -> list[ir.Value]:
            known = dict(zip(begun, begin(given[: len(begun)]), strict=True))
            known |= dict(zip(read, given[len(begun) :], strict=False))
            for op in operations_in(self.work)[:-1]:
                if op.results[0] in needed and op.results[0] not in known:
                    copy = cloned(op, known)
                    self._rename(copy)
                    known |= dict(zip(op.results, copy.results, strict=True))
            return [known.get(value, value) for value in values]

        inputs = [*begun.values(), *map(self._mapped, numbers)]
        made = emit_generic(self.loops, self.reduced, inputs, outputs, body)
        for name in self.kept:
            if name in self.work.op.attributes:
                made.attributes[name] = self.work.op.attributes[name]
        return made

    def _needed(self, values: Sequence[ir.Value], begun: Collection[ir.Value]) -> set[ir.Value]:
        """Returns what values are computed of, as far as those that are there."""
        found, waiting = set(begun), list(values)
        while waiting:
            value = waiting.pop()
            if value in found:
                continue
            found.add(value)
            if not isinstance(value.owner, ir.Block) and not is_outside(self.work, value):
                waiting += needed_by(value.owner.operation)
        return found

    def _mapped(self, number: int) -> Mapped:
        """Returns an operand and where it is read or written."""
        op = self.work.op
        map_ = ir.AffineMapAttr(ir.ArrayAttr(op.attributes["indexing_maps"])[number]).value
        loops = [
            ir.AffineExpr.get_dim(self.names[loop])
            if loop in self.names
            else ir.AffineExpr.get_constant(0)
            for loop in range(len(self.work.extents))
        ]
        renamed = ir.AffineMap.get(self.loops, 0, loops)
        results = [each.compose(renamed) for each in map_.results]
        return op.operands[number], ir.AffineMap.get(self.loops, 0, results)

    def _rename(self, op: ir.Operation) -> None:
        """Lets a copy name the loops."""
        if op.name == "hir.reduce_loops":
            loops = [self.names[loop] for loop in loops_of(op)]
            op.attributes["loops"] = ir.DenseI64ArrayAttr.get(loops)
        for index in operations_where(op, lambda inner: inner.name == "linalg.index"):
            loop = self.names[ir.IntegerAttr(index.attributes["dim"]).value]
            i64 = ir.IntegerType.get_signless(64)
            index.attributes["dim"] = ir.IntegerAttr.get(i64, loop)

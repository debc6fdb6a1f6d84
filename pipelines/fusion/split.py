"""One linalg.generic for each set of loops that results of another go along.

The other's collective operations are gone, folded away, and so their loops are not to decide any
longer whether a result that does not go along them is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..walking import is_used, operations_where
from .access import loops_in
from .generic import accesses_of, inputs_of, loop_count, make_generic
from .region import Region, is_pure


def split(op: ir.Operation) -> None:
    """Replaces an operation by others whose loops all results go along; those of few come first.

    What has effects, such as cf.assert, is in the first that has the loops that it depends on, so
    that what relies on it comes after. What no result has the loops for stays in `op`, whose
    results nothing uses then.
    """
    body = _Body(op)
    parts = _parts(op, body)
    with op.location, ir.InsertionPoint(op):
        made = [_build(op, part) for part in parts]
    for part, new in zip(parts, made, strict=True):
        for number, result in zip(part.outputs, new.results, strict=True):
            op.results[number].replace_all_uses_with(result)
    done = {number for part in parts for number in part.work}
    if body.effects <= done:
        op.erase()
    else:
        _erase(op, body.effects & done)


@dataclass(frozen=True)
class _Part:
    """The numbers of outputs that go along `loops`, and of the operations of the body for them."""

    outputs: Sequence[int]
    loops: Sequence[int]
    work: set[int]


def _parts(op: ir.Operation, body: _Body) -> list[_Part]:
    along: dict[tuple[int, ...], list[int]] = {}
    for number, out in enumerate(accesses_of(op)[len(inputs_of(op)) :]):
        if is_used(op.results[number]):
            along.setdefault(tuple(sorted(out.loops)), []).append(number)
    parts: list[_Part] = []
    waiting = body.effects
    for loops in sorted(along, key=len):
        here = frozenset(each for each in waiting if body.loops_of(each) <= set(loops))
        waiting -= here
        yielded = [body.yielded[number] for number in along[loops]]
        parts.append(_Part(along[loops], loops, body.needed_for(yielded, here)))
    return parts


class _Body:
    """What the operations in a linalg.generic's region need, by their numbers in the block."""

    def __init__(self, op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        *self._work, end = [inner.operation for inner in block]
        self.yielded = list(end.operands)
        self.effects = frozenset(
            number for number, inner in enumerate(self._work) if _has_effects(inner)
        )
        self._reads = dict(zip(block.arguments, accesses_of(op), strict=True))

    def needed_for(self, values: Iterable[ir.Value], numbers: Iterable[int]) -> set[int]:
        """Returns the operations that values come from, and those of the numbers, with all they
        need.
        """
        return self._trace(values, numbers)[0]

    def loops_of(self, number: int) -> set[int]:
        """Returns the loops that what an operation does depends on."""
        work, values = self._trace([], [number])
        indices = [
            index
            for each in work
            for index in operations_where(self._work[each], lambda op: op.name == "linalg.index")
        ]
        reads = [read for argument, read in self._reads.items() if argument in values]
        return {ir.IntegerAttr(index.attributes["dim"]).value for index in indices} | {
            loop for read in reads for each in read.index for loop in loops_in(each)
        }

    def _trace(
        self, values: Iterable[ir.Value], numbers: Iterable[int]
    ) -> tuple[set[int], set[ir.Value]]:
        work, wanted = set(numbers), set(values)
        for number, inner in reversed(list(enumerate(self._work))):
            if number in work or wanted.intersection(inner.results):
                work.add(number)
                for each in operations_where(inner, lambda _: True):
                    wanted.update(each.operands)
        return work, wanted


def _build(op: ir.Operation, part: _Part) -> ir.Operation:
    """Returns the operation that is a part of `op`, at the current insertion point."""
    copy = op.clone()
    *work, end = [inner.operation for inner in copy.regions[0].blocks[0]]
    with end.location, ir.InsertionPoint(end):
        ir.Operation.create("linalg.yield", [], [end.operands[each] for each in part.outputs])
    end.erase()
    _erase(copy, set(range(len(work))) - part.work)
    names = [
        part.loops.index(loop) if loop in part.loops else None for loop in range(loop_count(op))
    ]
    inputs = len(inputs_of(op))
    accesses = [each.renamed(names) for each in accesses_of(copy)]
    arguments = list(copy.regions[0].blocks[0].arguments)
    region = Region()
    reads: list[ir.Value | None] = [
        region.input(access, len(part.loops)) if is_used(argument) else None
        for access, argument in zip(accesses[:inputs], arguments, strict=False)
    ]
    outputs = [accesses[inputs + number] for number in part.outputs]
    yielded = region.absorb(copy, [*reads, *[None] * (len(arguments) - inputs)], names)
    region.finish(outputs, yielded)
    copy.erase()
    return make_generic(region.inputs, outputs, len(part.loops), [], region.block, of=[op])


def _erase(op: ir.Operation, numbers: Iterable[int]) -> None:
    """Takes operations out of a linalg.generic's region, as far as others do not need them."""
    work = [inner.operation for inner in op.regions[0].blocks[0]]
    for number in sorted(numbers, reverse=True):
        if not any(map(is_used, work[number].results)):
            work[number].erase()


def _has_effects(op: ir.Operation) -> bool:
    return bool(
        operations_where(op, lambda each: not is_pure(each) and not each.name.startswith("scf."))
    )

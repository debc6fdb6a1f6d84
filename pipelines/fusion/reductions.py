"""Recognizing reductions: what a linalg.generic combines into its outputs, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.hir.loop_operation import FLOAT_KINDS, INTEGER_KINDS
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..generics import find_over, reduce_over
from ..rewriting import constant
from .accumulators import extended, truncated
from .fills import filled_with, is_zero_constant
from .generic import accesses_of, has_tensors_only, inputs_of, loop_count, outs_of, reducing_loops
from .kinds import (
    combination,
    combine,
    comparison,
    extreme_number,
    is_extreme,
    is_neutral,
    may_be_nan,
)

# The start value of an output, as a value of the region.
Start = Callable[[int], ir.Value]


@dataclass(frozen=True)
class Reduction:
    """Output `output` is its start value and all of `value`, combined by `kind`.

    With `keeps_nan` a start that is a nan stays.
    """

    output: int
    kind: str
    value: ir.Value
    keeps_nan: bool = False


@dataclass(frozen=True)
class Find:
    """Output `output` is the first place of the extreme that output `extreme.output` is."""

    output: int
    extreme: Reduction
    element: ir.Type


Found = Reduction | Find


def recognize(op: ir.Operation) -> list[Found] | None:
    """Returns what each output of a reducing linalg.generic is; None if one is something else."""
    if not has_tensors_only(op) or not _reduces_all_outputs(op):
        return None
    block = op.regions[0].blocks[0]
    end = list(block)[-1].operation
    arguments = list(block.arguments)[len(inputs_of(op)) :]
    found: list[Found] = []
    for number, (argument, result) in enumerate(zip(arguments, end.operands, strict=True)):
        one = combination(result, argument)
        if one is not None and _has_kind(one.kind, argument.type):
            found.append(Reduction(number, one.kind, one.value, one.keeps_nan))
            continue
        place = _place(op, number, result, arguments, found)
        if place is None:
            return None
        found.append(place)
    return found if _outputs_are_only_combined(op, found, arguments) else None


def emit(
    found: Sequence[Found], used: Sequence[int], loops: Sequence[int], start: Start
) -> list[ir.Value]:
    """Returns the values of the `used` outputs, by collective operations over `loops`."""
    values: dict[int, ir.Value] = {}
    for each in found:
        if isinstance(each, Find) and each.output in used:
            values[each.extreme.output], values[each.output] = _find(each, loops)
    for each in found:
        if isinstance(each, Reduction) and each.output in used and each.output not in values:
            values[each.output] = _reduce(each, loops, start(each.output))
    return [values[number] for number in used]


def _reduce(found: Reduction, loops: Sequence[int], start: ir.Value) -> ir.Value:
    element = found.value.type
    value = extended(found.value)
    if loops:
        value = reduce_over(loops, found.kind, value)
    if found.keeps_nan and may_be_nan(start):
        start = extended(start)
        value = arith.select(_is_better(found.kind, value, start), value, start)
    elif not is_neutral(found.kind, start, of_sums=bool(loops)):
        value = combine(found.kind, value, extended(start))
    return truncated(value, element)


def _is_better(kind: str, value: ir.Value, than: ir.Value) -> ir.Value:
    """Returns whether a value is more extreme than another, in the sense of maxnumf or minnumf."""
    predicates = arith.CmpFPredicate
    return arith.cmpf(predicates.OGT if kind == "maxnumf" else predicates.OLT, value, than)


def _find(found: Find, loops: Sequence[int]) -> tuple[ir.Value, ir.Value]:
    extreme = found.extreme
    value = extended(extreme.value)
    if not loops:
        most, place = value, constant(found.element, 0)
        return _bounded(extreme.kind, most, place, extreme.value.type)
    most, place = find_over(loops, extreme.kind, value)
    if found.element != place.type:
        name = "arith.index_cast" if found.element == ir.IndexType.get() else "arith.trunci"
        place = ir.Operation.create(name, results=[found.element], operands=[place]).results[0]
    return _bounded(extreme.kind, most, place, extreme.value.type)


def _bounded(
    kind: str, most: ir.Value, place: ir.Value, element: ir.Type
) -> tuple[ir.Value, ir.Value]:
    """Returns an extreme and its place, of a search that began with an infinity and place 0.

    maxnumf and minnumf have found a nan where there is nothing else, and an infinity behind nans.
    """
    if kind in ("maxnumf", "minnumf"):
        bound = constant(most.type, extreme_number(kind))
        is_better = _is_better(kind, most, bound)
        most = arith.select(is_better, most, bound)
        place = arith.select(is_better, place, constant(place.type, 0))
    return truncated(most, element), place


def _reduces_all_outputs(op: ir.Operation) -> bool:
    """Returns whether every output has one element for all iterations of the reducing loops."""
    reducing = set(reducing_loops(op))
    others = [loop for loop in range(loop_count(op)) if loop not in reducing]
    outputs = accesses_of(op)[len(inputs_of(op)) :]
    return bool(reducing) and all(
        sorted(output.loops) == others and len(output.loops) == len(set(output.loops))
        for output in outputs
    )


def _place(
    op: ir.Operation,
    number: int,
    result: ir.Value,
    arguments: Sequence[ir.Value],
    before: Sequence[Found],
) -> Find | None:
    """Returns the place of an extreme: `select(compare(value, extreme), index, place so far)`."""
    if isinstance(result.owner, ir.Block) or result.owner.operation.name != "arith.select":
        return None
    condition, chosen, otherwise = result.owner.operation.operands
    element = result.type
    if otherwise != arguments[number] or not is_zero_constant(filled_with(outs_of(op)[number])):
        return None
    if isinstance(element, ir.IntegerType) and element.width > 64:
        return None
    for extreme in before:
        if not isinstance(extreme, Reduction):
            continue
        found = comparison(condition, arguments[extreme.output])
        if found is None or found.on_nan or found.order not in "<>" or found.value != extreme.value:
            continue
        start = filled_with(outs_of(op)[extreme.output])
        agrees = found.kind.replace("num", "") == _plain(extreme.kind)
        if agrees and start is not None and is_extreme(extreme.kind, start):
            return Find(number, extreme, element) if _is_place(op, chosen) else None
    return None


def _plain(kind: str) -> str:
    return kind.replace("imum", "").replace("num", "")


def _is_place(op: ir.Operation, value: ir.Value) -> bool:
    """Returns whether a value is the index of the only reducing loop."""
    loops = reducing_loops(op)
    while not isinstance(value.owner, ir.Block):
        maker = value.owner.operation
        if maker.name == "linalg.index":
            return [ir.IntegerAttr(maker.attributes["dim"]).value] == list(loops)
        if maker.name not in ("arith.index_cast", "arith.index_castui", "arith.trunci"):
            return False
        value = maker.operands[0]
    return False


def _has_kind(kind: str, element: ir.Type) -> bool:
    if isinstance(element, ir.FloatType):
        return kind in FLOAT_KINDS
    return isinstance(element, ir.IntegerType) and kind in INTEGER_KINDS


def _outputs_are_only_combined(
    op: ir.Operation, found: Sequence[Found], arguments: Sequence[ir.Value]
) -> bool:
    """Returns whether nothing but the recognized combinations and places reads the
    outputs so far.
    """
    end = list(op.regions[0].blocks[0])[-1].operation
    combined = [end.operands[each.output] for each in found]
    allowed: set[ir.Operation] = set()
    for value in combined:
        made = value.owner
        if isinstance(made, ir.Block):
            return False
        allowed.add(made.operation)
        if made.operation.name == "arith.select":
            condition = made.operation.operands[0].owner
            if not isinstance(condition, ir.Block):
                allowed.add(condition.operation)
    readers = [use.owner.operation for argument in arguments for use in argument.uses]
    uses = [use.owner.operation for value in combined for use in value.uses]
    return all(reader in allowed for reader in readers) and all(use == end for use in uses)

"""Checks that compiled programs make while they run."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir, scf
from ..index_arithmetic import Index, is_same, materialized
from .state import ProgramState


def refuse_if(
    state: ProgramState, wrong: ir.Value, message: str, first: Index = 0, second: Index = 0
) -> None:
    """Ends the program with a message where `wrong` holds.

    `message` shows the numbers where it has `{}`; its only other text is plain.
    """
    numbers = [materialized(number) for number in (first, second)]
    _refuse_if(state, wrong, message.replace("%", "%%").replace("{}", "%lld"), numbers)


def refuse_with_text(state: ProgramState, wrong: ir.Value, text: str) -> None:
    """Ends the program with that very text where `wrong` holds."""
    none = materialized(0)
    _refuse_if(state, wrong, text.replace("%", "%%"), [none, none])


def _refuse_if(
    state: ProgramState, wrong: ir.Value, shown: str, numbers: Sequence[ir.Value]
) -> None:
    test = scf.IfOp(wrong)
    with ir.InsertionPoint(test.then_block):
        end = scf.YieldOp([])
    with state.before(end):
        emit = state.emit
        values = [emit.convert(number) for number in numbers]
        emit.call("hirc_refuse", [emit.string(shown), *values, emit.location()])


def refuse_unless_equal(state: ProgramState, got: Index, wanted: Index, message: str) -> None:
    """Ends the program where two numbers differ; `message` shows both, in this order."""
    if is_same(got, wanted):
        return
    differ = arith.cmpi(arith.CmpIPredicate.ne, materialized(got), materialized(wanted))
    refuse_if(state, differ, message, got, wanted)


def refuse_unless_below(state: ProgramState, number: Index, limit: Index, message: str) -> None:
    """Ends the program unless 0 <= number < limit; `message` shows both, in this order."""
    if isinstance(number, int) and isinstance(limit, int) and 0 <= number < limit:
        return
    outside = arith.cmpi(arith.CmpIPredicate.uge, materialized(number), materialized(limit))
    refuse_if(state, outside, message, number, limit)


def refuse_unless_within(state: ProgramState, number: Index, most: Index, message: str) -> None:
    """Ends the program unless 0 <= number <= most; `message` shows both, in this order."""
    if is_same(number, most) or (
        isinstance(number, int) and (number == 0 or (isinstance(most, int) and 0 < number <= most))
    ):
        return
    outside = arith.cmpi(arith.CmpIPredicate.ugt, materialized(number), materialized(most))
    refuse_if(state, outside, message, number, most)


def refuse_negative_sizes(state: ProgramState, sizes: Sequence[Index], what: str) -> None:
    """Ends the program where one of the sizes is negative."""
    least = _least(sizes)
    if least is None:
        return
    negative = arith.cmpi(arith.CmpIPredicate.slt, least, materialized(0))
    refuse_if(state, negative, f"{what}: a size is {{}}, and none may be negative", least)


def refuse_memory_sizes(
    state: ProgramState, sizes: Sequence[Index], overflow: ir.Value | None, what: str
) -> None:
    """Ends the program where a size is negative, or memory of the sizes more than there can be.

    `overflow` is from the arithmetic on the sizes. What is right costs one branch.
    """
    least = _least(sizes)
    if least is None:
        return
    zero = materialized(0)
    negative = arith.cmpi(arith.CmpIPredicate.slt, least, zero)
    wrong = negative if overflow is None else arith.ori(negative, overflow)
    test = scf.IfOp(wrong)
    with ir.InsertionPoint(test.then_block):
        end = scf.YieldOp([])
    with state.before(end):
        refuse_if(state, negative, f"{what}: a size is {{}}, and none may be negative", least)
        if overflow is not None:
            greatest, *others = [materialized(size) for size in sizes]
            for size in others:
                greatest = arith.maxsi(greatest, size)
            message = f"{what}: its sizes, the greatest {{}}, make more than 2^63 - 1 bytes"
            refuse_if(state, overflow, message, greatest)


def _least(sizes: Sequence[Index]) -> ir.Value | None:
    """Returns the least of the sizes that are not known, None where all are."""
    open_sizes = [size for size in sizes if isinstance(size, ir.Value)]
    if not open_sizes:
        return None
    least = open_sizes[0]
    for size in open_sizes[1:]:
        least = arith.minsi(least, size)
    return least

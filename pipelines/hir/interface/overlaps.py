"""What is wrong with what a program writes to beside the other tensors: they share memory."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from .checks import Seen
from .code import Code

# How many pairs of tensors are compared in line. The support library sorts those of more.
_PAIRS = 256


@dataclass(frozen=True)
class Span:
    """The first byte of a tensor and the one after its last, as numbers; 0 and 0 of no bytes."""

    start: ir.Value
    end: ir.Value
    is_written: bool


@dataclass(frozen=True)
class Kept:
    """Memory that the program keeps: the bytes from `start` to `end` after the address `base`.

    It writes to state: no tensor of a call may lie there. It reads weights: none that it writes to
    may.
    """

    base: ir.Value
    start: int
    end: int
    is_state: bool


def compares_spans(inputs: Sequence[Seen], outputs: Sequence[Seen]) -> bool:
    """Returns whether the tensors are few enough to be compared in line, pair by pair."""
    written, others = _written(inputs, outputs), _only_read(inputs)
    return len(written) * (len(written) + len(others)) <= _PAIRS


def misplaced_outputs(
    code: Code, inputs: Sequence[Seen], outputs: Sequence[Seen]
) -> list[ir.Value]:
    """Returns faults where an output must not be handed in, or is an input's memory."""
    faults: list[ir.Value] = []
    for seen in outputs:
        if seen.given is None or seen.value.can_be_given:
            continue
        if seen.value.origin == "input":
            place = inputs[seen.value.origin_input]
            elsewhere = code.difference(code.number_of(seen.first), code.number_of(place.first))
            faults.append(code.unless(code.negate(seen.given), elsewhere))
        else:
            faults.append(code.widened(seen.given))
    return faults


def spans_of(code: Code, inputs: Sequence[Seen], outputs: Sequence[Seen]) -> list[Span]:
    """Returns the bytes of each tensor, of those that are written first."""
    written, others = _written(inputs, outputs), _only_read(inputs)
    return [
        *(_span(code, seen, is_written=True) for seen in written),
        *(_span(code, seen, is_written=False) for seen in others),
    ]


def overlaps(code: Code, spans: Sequence[Span]) -> list[ir.Value]:
    """Returns a fault for each pair of tensors that share bytes, of which one is written."""
    return [
        arith.shrui(_are_shared(one, other.start, other.end), code.i64(63))
        for place, one in enumerate(spans)
        if one.is_written
        for other in spans[place + 1 :]
    ]


def _are_shared(span: Span, start: ir.Value, end: ir.Value) -> ir.Value:
    """Returns an i64 that is less than 0 where a tensor has bytes of a range.

    Each begins before the other ends: addresses are so near that a difference has a sign.
    """
    return arith.andi(arith.subi(span.start, end), arith.subi(start, span.end))


def lies_in_kept(code: Code, spans: Sequence[Span], kept: Kept) -> ir.Value | None:
    """Returns whether a tensor may lie in what the program keeps, None where none could."""
    reached = [span for span in spans if kept.is_state or span.is_written]
    if not reached or kept.start == kept.end:
        return None
    base = code.number_of(kept.base)
    start, end = (arith.addi(base, code.i64(place)) for place in (kept.start, kept.end))
    shared = code.together([_are_shared(span, start, end) for span in reached])
    return code.compare(arith.CmpIPredicate.slt, shared, code.i64(0))


def overlaps_by_library(
    code: Code, info: ir.Value, inputs: ir.Value, outputs: ir.Value
) -> ir.Value:
    """Returns the same of all pairs. Types, sizes and strides must have been checked."""
    found = code.call("hirc_outputs_overlap", [info, inputs, outputs], code.types.i32)
    assert found is not None
    return code.widened(found)


def refused_by_library(code: Code, info: ir.Value, inputs: ir.Value, outputs: ir.Value) -> ir.Value:
    """Returns whether a tensor is on a device that the program does not take."""
    found = code.call("hirc_devices_refused", [info, inputs, outputs], code.types.i32)
    assert found is not None
    return code.differ(found, code.i32(0))


def repeats_by_library(code: Code, info: ir.Value, outputs: ir.Value) -> ir.Value:
    """Returns whether two elements of an output are one. Types, sizes and strides must be right."""
    found = code.call("hirc_outputs_repeat", [info, outputs], code.types.i32)
    assert found is not None
    return code.differ(found, code.i32(0))


def kept_by_library(
    code: Code,
    info: ir.Value,
    tensors: tuple[ir.Value, ir.Value],
    weights: ir.Value,
    state: ir.Value,
    used: ir.Value,
    count: int,
) -> ir.Value:
    """Returns whether a tensor lies in what the program keeps; then there is a message.

    `used` are the numbers of the `count` states that it has.
    """
    given = [info, *tensors, weights, state, used, code.i64(count)]
    found = code.call("hirc_kept_is_shared", given, code.types.i32)
    assert found is not None
    return code.differ(found, code.i32(0))


def _written(inputs: Sequence[Seen], outputs: Sequence[Seen]) -> list[Seen]:
    """Returns the outputs that the caller has memory for, and the inputs that the program writes
    to.

    Scalars are written when the call returns, while kernels may still read and write buffers.
    """
    given = [seen for seen in outputs if seen.value.can_be_given or not seen.value.is_buffer]
    return given + [seen for seen in inputs if seen.value.is_written]


def _only_read(inputs: Sequence[Seen]) -> list[Seen]:
    return [seen for seen in inputs if not seen.value.is_written]


def _span(code: Code, seen: Seen, *, is_written: bool) -> Span:
    zero, element = code.i64(0), code.i64(seen.value.element_bytes)
    start = code.number_of(seen.first)
    if not seen.reaches:
        end = arith.addi(start, element)
    else:
        low = high = zero
        for reach in seen.reaches:
            low = arith.addi(low, arith.minsi(reach, zero))
            high = arith.addi(high, arith.maxsi(reach, zero))
        last = arith.muli(arith.addi(high, code.i64(1)), element)
        start, end = arith.addi(start, arith.muli(low, element)), arith.addi(start, last)
    nothing = seen.is_empty
    if seen.given is not None:
        nothing = code.any([nothing, code.negate(seen.given)])
    if code.known(nothing) == 0:
        return Span(start, end, is_written)
    return Span(arith.select(nothing, zero, start), arith.select(nothing, zero, end), is_written)

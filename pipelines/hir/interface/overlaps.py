"""What is wrong with what a program writes to beside the other tensors: they share memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ....dialects.mlir import arith, ir
from .checks import Seen
from .code import Code

# How many pairs of tensors are compared in line. The support library sorts those of more.
_PAIRS = 256


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


def overlaps(code: Code, inputs: Sequence[Seen], outputs: Sequence[Seen]) -> list[ir.Value]:
    """Returns a fault for each pair of tensors that share bytes, of which one is written."""
    faults: list[ir.Value] = []
    written = _written(inputs, outputs)
    if not written:
        return faults
    spans = [(seen, _span(code, seen)) for seen in [*written, *_only_read(inputs)]]
    for (one, mine), (_, other) in combinations(spans, 2):
        if one.given is not None or one.value.is_written:
            # Each begins before the other ends: addresses are so near that a difference has a sign.
            before, after = arith.subi(mine[0], other[1]), arith.subi(other[0], mine[1])
            faults.append(arith.shrui(arith.andi(before, after), code.i64(63)))
    return faults


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


def _written(inputs: Sequence[Seen], outputs: Sequence[Seen]) -> list[Seen]:
    """Returns the outputs that may be handed in, and the inputs that the program writes to."""
    given = [seen for seen in outputs if seen.value.can_be_given]
    return given + [seen for seen in inputs if seen.value.is_written]


def _only_read(inputs: Sequence[Seen]) -> list[Seen]:
    return [seen for seen in inputs if seen.value.is_buffer and not seen.value.is_written]


def _span(code: Code, seen: Seen) -> tuple[ir.Value, ir.Value]:
    """Returns the first byte of a tensor and the one after its last, as numbers; 0 and 0 of no
    bytes.
    """
    zero = code.i64(0)
    low = high = zero
    for reach in seen.reaches:
        low = arith.addi(low, arith.minsi(reach, zero))
        high = arith.addi(high, arith.maxsi(reach, zero))
    start = code.number_of(seen.first)
    element = code.i64(seen.value.element_bytes)
    nothing = seen.is_empty
    if seen.given is not None:
        nothing = code.any([nothing, code.negate(seen.given)])
    return (
        arith.select(nothing, zero, arith.addi(start, arith.muli(low, element))),
        arith.select(
            nothing, zero, arith.addi(start, arith.muli(arith.addi(high, code.i64(1)), element))
        ),
    )

"""What stands for an operation that involves other threads or copies asynchronously."""

from __future__ import annotations

from enum import IntEnum

from ....dialects.records import dataclass


class StopKind(IntEnum):
    """enum hirc_stop_kind of runtime/device_abi.h."""

    WARP = 1
    CONVERGED = 2
    BARRIER = 3
    BARRIER_REDUCE = 4
    CLUSTER_WAIT = 5
    POLL = 6
    YIELD = 7


@dataclass(frozen=True)
class Constant:
    """An operand that the call does not have."""

    type: str
    value: int


@dataclass(frozen=True)
class Operation:
    """How the CPU device does what a call asks for.

    `name` is for messages ("shfl.sync.bfly"). A stop has a `kind`, and `function` is the C function
    that performs it, empty where the engine knows how. Without a kind the call becomes one of the C
    function, or is left out where there is none: then it has no effect here.

    `operands` are the stop's, or the C function's arguments: numbers of the call's operands, and
    constants; None stands for all of the call's in their order. Slots of a stop have the types of
    the operands (i1: one byte) and of the result or its fields. A C function takes integers
    narrower than 32 bits zero-extended to 32, and gives an i1 as an i32; where `context` is set
    `ptr block, i32 thread` come first.
    """

    name: str
    kind: StopKind | None = None
    function: str = ""
    parameters: tuple[int, ...] = ()
    operands: tuple[int | Constant, ...] | None = None
    context: bool = False


def constant(value: int) -> Constant:
    """Returns an i32 that the call does not have."""
    return Constant("i32", value)


def function_call(
    name: str, function: str, *operands: int | Constant, context: bool = False
) -> Operation:
    """A call of a C function with these operands."""
    return Operation(name, None, function, operands=operands, context=context)


def nothing(name: str) -> Operation:
    """Returns an operation without an effect on the CPU device."""
    return Operation(name, operands=())

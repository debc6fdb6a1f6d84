"""Calls of operations that involve other threads: which are stops, and what the others become."""

from __future__ import annotations

from ...dialects.records import dataclass
from ..errors import UnsupportedError
from .calls import Call
from .device_ir import DeviceModule, Instruction
from .intrinsics import Replacement, intrinsic
from .operations import Constant, Operation, StopKind, operation
from .refusals import HINT, position_of
from .stops import StopCall

_YIELD = StopCall(StopKind.YIELD, "a loop that waits for memory", ())
_SLEEP = StopCall(StopKind.YIELD, "nanosleep", ())
# What a C function takes and gives for integers narrower than this.
_C_INTEGER = "i32"
_NARROW = ("i1", "i8", "i16")

Typed = tuple[str, str]


@dataclass(frozen=True)
class PlainCall:
    """A call of a C function; an empty name means that the operation has no effect here."""

    function: str
    arguments: tuple[Typed, ...]
    context: bool


class StopTable:
    """Looks operations up, and remembers the C functions that perform the stops."""

    def __init__(self, module: DeviceModule) -> None:
        self._module = module
        self._found: dict[str, Operation | None] = {}
        self.performers: set[str] = set()

    def find(self, instruction: Instruction, call: Call) -> Operation | None:
        """The operation a call asks for. Raises UnsupportedError for one that only a GPU has."""
        name = call.function
        if name not in self._found:
            try:
                self._found[name] = operation(name)
            except UnsupportedError as error:
                error.position = position_of(self._module, instruction)
                error.stage = "cpu-device"
                error.hint = error.hint or HINT
                raise
        return self._found[name]

    def stop(self, instruction: Instruction, call: Call) -> tuple[StopCall, str] | None:
        """Returns what is done at a stop and the type of its result; None for other calls."""
        found = self.find(instruction, call)
        if found is None:
            known = intrinsic(call.function)
            if known is not None and known.kind is Replacement.YIELD:
                return _SLEEP if call.function.endswith(".nanosleep") else _YIELD, "void"
            return None
        if found.kind is None:
            return None
        if found.function:
            self.performers.add(found.function)
        stop = StopCall(
            int(found.kind), found.name, _operands(found, call), found.function, found.parameters
        )
        return stop, call.result_type

    def plain_call(self, instruction: Instruction, call: Call) -> PlainCall | None:
        """The call of a C function that does the operation, or None where it is a stop or none."""
        found = self.find(instruction, call)
        if found is None or found.kind is not None:
            return None
        return PlainCall(found.function, _operands(found, call), found.context)


def _operands(found: Operation, call: Call) -> tuple[Typed, ...]:
    if found.operands is None:
        return call.arguments
    return tuple(
        (item.type, str(item.value)) if isinstance(item, Constant) else call.arguments[item]
        for item in found.operands
    )


def widened(argument: Typed, name: str) -> tuple[Typed, list[Instruction]]:
    """Returns an argument as C takes it, with the instruction that makes it of a narrow integer."""
    type_text, value = argument
    if type_text not in _NARROW:
        return argument, []
    if value in ("true", "false"):
        return (_C_INTEGER, str(int(value == "true"))), []
    if not value.startswith("%"):
        return (_C_INTEGER, str(int(value) % (1 << int(type_text[1:])))), []
    return (_C_INTEGER, name), [Instruction(f"{name} = zext {type_text} {value} to {_C_INTEGER}")]

"""Calls in device code, made into what the host has: C functions, fields of the block, stops."""

from __future__ import annotations

import re
from dataclasses import replace

from ..ir_text import plain_name
from .block_layout import BLOCK, X, Y, Z
from .calls import Call, context_arguments, make_call, parse_call
from .control_flow import drop_unreachable
from .device_ir import DeviceModule, Function, Instruction
from .intrinsics import Replacement, intrinsic
from .metadata import INVARIANT
from .operations import StopKind
from .prologue import Prologue
from .refusals import refusal
from .special_registers import Register, Source
from .stop_calls import PlainCall, StopTable, widened
from .stops import StopCall

ASSERT = "__assertfail"
_ABORT = "hirc_device_abort"
_TRAP_ERROR = 719  # cudaErrorLaunchFailure

# What CUDA's device runtime defines: the function that stands for it, and the number of operands
# that it takes of the call's.
_RUNTIME_FUNCTIONS = {
    "vprintf": ("hirc_device_printf", 2),
    "malloc": ("hirc_device_malloc", 1),
    "free": ("hirc_device_free", 1),
    # And ROCm's ockl.
    "__ockl_printf_begin": ("hirc_ockl_printf_begin", 1),
    "__ockl_printf_append_string_n": ("hirc_ockl_append_string", 4),
    "__ockl_printf_append_args": ("hirc_ockl_append_args", 10),
    "__ockl_fprintf_stderr_begin": ("hirc_ockl_stderr_begin", 0),
    "__ockl_fprintf_append_string_n": ("hirc_ockl_append_string", 4),
}
_GROUP = re.compile(r" #\d+(?=,|$)")
_IGNORED = frozenset({"llvm.debugtrap", "llvm.donothing", "llvm.experimental.noalias.scope.decl"})


class CallLowering:
    """Lowers the calls of one module's functions, and knows which of them are stops."""

    def __init__(self, module: DeviceModule) -> None:
        self._module = module
        self._stops = StopTable(module)
        self._declared: dict[str, str] = {}
        self._made = 0
        # Instructions that go around the call that is being lowered.
        self._before: list[Instruction] = []
        self._after: list[Instruction] = []

    def declarations(self) -> list[str]:
        """Declarations of every C function that is called, and of those that perform stops."""
        performers = [f"declare i1 @{name}(ptr)" for name in sorted(self._stops.performers)]
        return [*self._declared.values(), *performers]

    def lower(self, function: Function, prologue: Prologue) -> None:
        """Replaces the calls of a function but for its stops."""
        renamed: dict[str, str] = {}
        for block in function.blocks:
            kept: list[Instruction] = []
            for instruction in block.instructions:
                call = parse_call(instruction)
                if call is None:
                    kept.append(instruction)
                    continue
                instruction.text = _GROUP.sub("", instruction.text)
                self._before, self._after = [], []
                value = self._lower(function, instruction, call, prologue)
                if value is None:
                    kept += [*self._before, instruction, *self._after]
                elif instruction.result and value:
                    renamed[instruction.result] = value
            block.instructions = self._trapping(_ended(kept))
        drop_unreachable(function)
        if renamed:
            for instruction in [*function.instructions(), *prologue.instructions]:
                if not renamed.keys().isdisjoint(instruction.locals):
                    instruction.replace_locals(lambda name: renamed.get(name, name))

    def _trapping(self, instructions: list[Instruction]) -> list[Instruction]:
        """What cannot be reached traps, as on a GPU, unless what stands before it never returns."""
        last = instructions[-1]
        before = instructions[-2].text if len(instructions) > 1 else ""
        if last.opcode != "unreachable" or "@hirc_device_a" in before:
            return instructions
        self._declared.setdefault(_ABORT, f"declare void @{_ABORT}(ptr, i32, i32)")
        arguments = ", ".join(f"{type_} {name}" for type_, name in context_arguments(whole=False))
        debug = f", !dbg !{last.debug}" if last.debug is not None else ""
        trap = f"call void @{_ABORT}({arguments}, i32 {_TRAP_ERROR}){debug}"
        return [*instructions[:-1], Instruction(trap), last]

    def classify(self, instruction: Instruction) -> tuple[StopCall, str] | None:
        """Returns what a stop does, and the type of its result."""
        call = parse_call(instruction)
        return None if call is None else self._stops.stop(instruction, call)

    def is_idle(self, instruction: Instruction) -> bool:
        """Returns whether a thread waits at the instruction for what only memory tells."""
        found = self.classify(instruction)
        return found is not None and found[0].kind in (StopKind.POLL, StopKind.YIELD)

    def refuse_stops(self, function: Function) -> None:
        """A function that could not be inlined cannot stop. Raises UnsupportedError."""
        for instruction in function.instructions():
            found = self.classify(instruction)
            if found is not None:
                raise refusal(
                    self._module,
                    instruction,
                    f"{found[0].operation} in the function '{plain_name(function.name)}', which "
                    "calls itself or is called through a pointer",
                )

    def _lower(
        self, function: Function, instruction: Instruction, call: Call, prologue: Prologue
    ) -> str | None:
        """Changes the instruction, or says what takes its place: a value, or "" for nothing."""
        name = call.function
        if call.callee in self._module.functions or call.callee.startswith("%"):
            arguments = [*context_arguments(), *call.arguments]
            make_call(instruction, call.callee, arguments, call.result_type)
        elif name in _RUNTIME_FUNCTIONS:
            called, operands = _RUNTIME_FUNCTIONS[name]
            self._call(instruction, call, called, call.arguments[:operands], block=True)
        elif name == ASSERT:
            self._assert(instruction, call, ends_thread=function.is_kernel)
        elif name in ("llvm.trap", "llvm.ubsantrap"):
            self._call(instruction, call, _ABORT, (("i32", str(_TRAP_ERROR)),), block=True)
        elif name in _IGNORED:
            return ""
        elif plain := self._stops.plain_call(instruction, call):
            return self._operation(instruction, call, plain)
        elif self._stops.stop(instruction, call) is not None:
            return None
        elif name.startswith("llvm."):
            return self._intrinsic(instruction, call, prologue)
        return None

    def _assert(self, instruction: Instruction, call: Call, *, ends_thread: bool) -> None:
        """The thread ends and others go on; outside of a kernel one alone cannot be ended."""
        name = "hirc_device_assert" if ends_thread else "hirc_device_assert_all"
        self._call(instruction, call, name, call.arguments[:4], block=True)
        self._after.append(Instruction("ret void" if ends_thread else "unreachable"))

    def _operation(self, instruction: Instruction, call: Call, plain: PlainCall) -> str | None:
        """An operation of several threads that is no stop is a call of the runtime."""
        if not plain.function:
            return ""
        arguments: list[tuple[str, str]] = []
        for argument in plain.arguments:
            self._made += 1
            passed, before = widened(argument, f"%hirc.wide{self._made}")
            arguments.append(passed)
            self._before += before
        result = instruction.result
        if result is None or call.result_type != "i1":
            self._call(instruction, call, plain.function, tuple(arguments), block=plain.context)
            return None
        # C gives a truth value as an integer.
        self._made += 1
        wide = f"%hirc.truth{self._made}"
        instruction.text = instruction.text.replace(result, wide, 1)
        whole = replace(call, result_type="i32")
        self._call(instruction, whole, plain.function, tuple(arguments), block=plain.context)
        self._after.append(Instruction(f"{result} = trunc i32 {wide} to i1"))
        return None

    def _call(
        self,
        instruction: Instruction,
        call: Call,
        function: str,
        arguments: tuple[tuple[str, str], ...],
        *,
        block: bool,
    ) -> None:
        """Makes the instruction a call of a C function, or of another intrinsic."""
        passed = [*(context_arguments(whole=False) if block else ()), *arguments]
        types = ", ".join(type_ for type_, _ in passed)
        declared = f"declare {call.result_type} @{function}({types})"
        self._declared.setdefault(function, declared)
        make_call(instruction, f"@{function}", passed, call.result_type)

    def _intrinsic(self, instruction: Instruction, call: Call, prologue: Prologue) -> str | None:
        found = intrinsic(call.function)
        if found is None:
            if call.function.startswith(("llvm.nvvm.", "llvm.amdgcn.")):
                raise refusal(self._module, instruction, call.function)
            return None
        match found.kind:
            case Replacement.FUNCTION | Replacement.BLOCK_FUNCTION | Replacement.INTRINSIC:
                block = found.kind is Replacement.BLOCK_FUNCTION
                self._call(instruction, call, found.function, call.arguments, block=block)
            case Replacement.REGISTER:
                assert found.register is not None
                return _register(call.function, found.register, prologue)
            case Replacement.NOTHING:
                return ""
            case Replacement.LOAD:
                address, align = call.arguments[0][1], call.arguments[1][1]
                instruction.text = (
                    f"{instruction.result} = load {call.result_type}, ptr {address}, align {align}"
                )
            case Replacement.FENCE:
                instruction.text = f"fence {found.function}"
            case Replacement.EXIT:
                instruction.text = "ret void"
            case Replacement.YIELD:
                return None
            case Replacement.UNSUPPORTED:
                raise refusal(self._module, instruction, call.function, why=found.function)
        return None


def _ended(instructions: list[Instruction]) -> list[Instruction]:
    """Nothing follows what ends the thread."""
    for place, instruction in enumerate(instructions):
        if instruction.text in ("ret void", "unreachable"):
            return instructions[: place + 1]
    return instructions


def _register(name: str, register: Register, prologue: Prologue) -> str:
    """The value of a special register."""
    short = "hirc." + name.removeprefix("llvm.nvvm.read.ptx.sreg.")
    match register.source:
        case Source.THREAD_X:
            return X
        case Source.THREAD_Y:
            return Y
        case Source.THREAD_Z:
            return Z
        case Source.CONSTANT:
            return str(register.value)
        case Source.FIELD:
            at = prologue.value(
                f"{short}.at", f"getelementptr inbounds i8, ptr {BLOCK}, i64 {register.value}"
            )
            return prologue.value(short, f"load i32, ptr {at}, align 4, {INVARIANT}")
        case Source.WARP:
            return prologue.value(short, "lshr i32 %hirc.thread, 5")
        case Source.LANE:
            return _lane(prologue)
        case Source.LANES_EQUAL:
            return prologue.value(short, f"shl i32 1, {_lane(prologue)}")
        case Source.LANES_FROM:
            return prologue.value(short, f"shl i32 -1, {_lane(prologue)}")
        case Source.LANES_ABOVE:
            return prologue.value(short, f"shl i32 -2, {_lane(prologue)}")
        case Source.LANES_BELOW:
            bit = prologue.value(f"{short}.bit", f"shl i32 1, {_lane(prologue)}")
            return prologue.value(short, f"sub i32 {bit}, 1")
        case Source.LANES_UP_TO:
            bit = prologue.value(f"{short}.bit", f"shl i32 2, {_lane(prologue)}")
            return prologue.value(short, f"sub i32 {bit}, 1")


def _lane(prologue: Prologue) -> str:
    return prologue.value("hirc.laneid", "and i32 %hirc.thread, 31")

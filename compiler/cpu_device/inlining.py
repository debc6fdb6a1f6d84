"""Functions that stop have to be part of the kernels that call them, and so has inline PTX."""

from __future__ import annotations

import re

from ..ir_text import IrText
from ..llvm_ir import LlvmModule, Machine
from .calls import Call, parse_call
from .device_ir import DeviceModule, Function, Instruction, parse_module
from .intrinsics import Replacement, intrinsic
from .llvm_text import GLOBAL
from .lower_calls import ASSERT
from .stop_calls import StopTable
from .yields import waiting_latches

_ASSEMBLY = " asm "
_CALL = re.compile(r"\bcall ")
_CALL_GROUP = re.compile(r" #\d+(?=(?:, !\w+ !\d+)*$)")


def with_stops_inlined(nvvm: IrText, machine: Machine) -> IrText:
    """The module with inline PTX as IR, and with every function inlined that stops.

    That is one that ends its thread, waits for others, or calls such a function. A function that
    calls itself stays, and is refused later.
    """
    with_templates, has_templates = _with_ptx_functions(nvvm)
    module = parse_module(with_templates, kernels=False)
    names = _functions_that_stop(module)
    if not names and not has_templates:
        return with_templates
    lines = [_inlined(line, names) for line in with_templates.code.splitlines()]
    changed = with_templates.with_code("\n".join(lines) + "\n")
    result = LlvmModule(changed.whole(), machine, name="device")
    result.optimize()
    return IrText.of(result.text())


def with_ptx_before_optimising(nvvm: str) -> str:
    """Returns device code with inline PTX as IR where that can be said of all there is.

    It is optimised with what is around it, once; `with_stops_inlined` takes what is left.
    """
    if _ASSEMBLY not in nvvm:
        return nvvm
    from .ptx_functions import with_ptx_as_ir

    return with_ptx_as_ir(IrText.of(nvvm)).whole()


def _functions_that_stop(module: DeviceModule) -> set[str]:
    stops = StopTable(module)
    calls: dict[str, set[str]] = {}
    names: set[str] = set()
    for function in module.functions.values():
        called = _called(function, stops, names)
        calls[function.name] = called
        if waiting_latches(function):
            names.add(function.name)
    grown = True
    while grown:
        more = {name for name, called in calls.items() if called & names} - names
        names |= more
        grown = bool(more)
    return names


def _called(function: Function, stops: StopTable, stopping: set[str]) -> set[str]:
    called: set[str] = set()
    for instruction in function.instructions():
        call = parse_call(instruction)
        if call is None:
            continue
        called.add(call.callee)
        if stops.stop(instruction, call) is not None or _ends_thread(call):
            stopping.add(function.name)
    return called


def _ends_thread(call: Call) -> bool:
    if call.function == ASSERT:
        return True
    found = intrinsic(call.function)
    return found is not None and found.kind is Replacement.EXIT


def _inlined(line: str, names: set[str]) -> str:
    """A definition's first line with the attribute, and calls without those that forbid it."""
    if not line.startswith("define "):
        if not _CALL.search(line) or names.isdisjoint(GLOBAL.findall(line)):
            return line
        call = parse_call(Instruction(line.strip()))
        return _CALL_GROUP.sub("", line) if call is not None and call.callee in names else line
    found = GLOBAL.search(line)
    if found is None or found.group() not in names:
        return line
    return re.sub(r"( #\d+)?((?: !dbg !\d+)? \{)$", r" alwaysinline\2", line)


def _with_ptx_functions(nvvm: IrText) -> tuple[IrText, bool]:
    """Returns the module without inline PTX, and whether functions have taken its place."""
    if _ASSEMBLY not in nvvm.code:
        return nvvm, False
    # Imported late: few programs have any, and its tables are long.
    from .ptx_functions import with_ptx_functions

    return with_ptx_functions(nvvm)

"""Functions that stop have to be part of the kernels that call them, and so has inline PTX."""

from __future__ import annotations

import re

from ..llvm_ir import LlvmModule, Machine
from ..target import CPU, PTX_VERSION, TRIPLE
from .calls import parse_call
from .device_ir import DeviceModule, Function, parse_module
from .llvm_text import GLOBAL
from .ptx_functions import with_ptx_functions
from .spin_loops import waiting_latches
from .stop_calls import StopTable


def with_stops_inlined(nvvm: str, opt_level: int) -> str:
    """The module with inline PTX as IR, and every function inlined that stops or calls one that does.

    A function that calls itself stays, and is refused later.
    """
    with_templates = with_ptx_functions(nvvm)
    module = parse_module(with_templates)
    names = _functions_that_stop(module)
    if not names and with_templates == nvvm:
        return nvvm
    nvvm = with_templates
    lines = [_inlined(line, names) for line in nvvm.splitlines()]
    machine = Machine(TRIPLE, CPU.chip, f"+ptx{PTX_VERSION}", opt_level)
    result = LlvmModule("\n".join(lines) + "\n", machine, name="device")
    result.optimize()
    return result.text()


def _functions_that_stop(module: DeviceModule) -> set[str]:
    stops = StopTable(module)
    calls: dict[str, set[str]] = {}
    names: set[str] = set()
    for function in module.functions.values():
        if not function.is_kernel:
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
        if stops.stop(instruction, call) is not None:
            stopping.add(function.name)
    return called


def _inlined(line: str, names: set[str]) -> str:
    """A definition's first line, with the attribute and without those that forbid it."""
    if not line.startswith("define "):
        return line
    found = GLOBAL.search(line)
    if found is None or found.group() not in names:
        return line
    return re.sub(r"( #\d+)?((?: !dbg !\d+)? \{)$", r" alwaysinline\2", line)

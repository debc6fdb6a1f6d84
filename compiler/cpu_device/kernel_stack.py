"""The stack memory of a kernel's threads."""

from __future__ import annotations

import re
from dataclasses import replace

from .device_ir import DeviceModule, Function, Instruction
from .llvm_text import LOCAL, size_and_alignment, split_commas, typed_value
from .refusals import refusal

_STACK_POINTER = re.compile(r"@llvm\.stack(?:save|restore)\b")


def hoist_allocas(kernel: Function) -> None:
    """Puts stack memory of a fixed size at the kernel's beginning, once."""
    hoisted: list[Instruction] = []
    keeps_stack = any(map(_is_dynamic, kernel.instructions()))
    for block in kernel.blocks:
        rest: list[Instruction] = []
        for item in block.instructions:
            if item.opcode == "alloca" and not _is_dynamic(item):
                hoisted.append(item)
            elif keeps_stack or not _STACK_POINTER.search(item.text):
                rest.append(item)
        block.instructions = rest
    kernel.blocks[0].instructions[:0] = hoisted


def copy_by_value(kernel: Function) -> None:
    """A parameter passed by value is each thread's own if it may write to it."""
    for number, parameter in enumerate(kernel.parameters):
        if not parameter.byval or parameter.readonly:
            continue
        size, natural = size_and_alignment(parameter.byval)
        align = max(natural, parameter.align)
        outer = f"%hirc.byval{number}"
        kernel.parameters[number] = replace(parameter, name=outer, readonly=True)
        kernel.blocks[0].instructions[:0] = [
            Instruction(f"{parameter.name} = alloca {parameter.byval}, align {align}"),
            Instruction(
                f"call void @llvm.memcpy.p0.p0.i64(ptr align {align} {parameter.name}, "
                f"ptr align {align} {outer}, i64 {size}, i1 false)"
            ),
        ]


def refuse_dynamic_allocas(module: DeviceModule, kernel: Function) -> None:
    """Stack memory is kept over stops in a frame, which has one size. Raises UnsupportedError."""
    for instruction in kernel.instructions():
        if _is_dynamic(instruction):
            raise refusal(
                module,
                instruction,
                "stack memory of a size that is not constant",
                why="its kernel waits for other threads",
            )


def alloca(instruction: Instruction) -> tuple[str, int]:
    """Type and alignment of a static alloca."""
    parts = split_commas(instruction.body.removeprefix("alloca "))
    type_text, align = parts[0], 1
    for part in parts[1:]:
        if part.startswith("align "):
            align = int(part.removeprefix("align "))
        elif part[0] == "i":
            count = typed_value(part)[1]
            type_text = f"[{count} x {type_text}]"
    return type_text, align


def _is_dynamic(instruction: Instruction) -> bool:
    """Returns whether it takes as many elements as a value says."""
    return instruction.opcode == "alloca" and LOCAL.search(instruction.body) is not None

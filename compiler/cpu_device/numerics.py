"""Arithmetic whose results LLVM leaves open, or differently, where a GPU defines them.

Conversions of floats to integers saturate (PTX ISA, cvt). Under
`"denormal-fp-math-f32"="preserve-sign"` the f32 instructions flush subnormal operands and results
to zero of the same sign (PTX ISA, .ftz).
"""

from __future__ import annotations

import re

from .device_ir import DeviceModule, Function, Instruction
from .llvm_text import split_commas, type_end, typed_value, without_attributes

_FLUSH_ATTRIBUTE = "denormal-fp-math-f32"
_SCALARS = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
_FLAGS = re.compile(r"(?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast|nneg)\s+")
_ARITHMETIC = {"fadd", "fsub", "fmul", "fdiv"}
_SMALLEST_NORMAL = "0x3810000000000000"  # 2^-126, as LLVM spells a float
_FLUSHED_INTRINSICS = re.compile(r"call .*@llvm\.(sqrt|fma)\.(v\d+)?f32\(")


def define_conversions(function: Function) -> None:
    """Makes conversions to integers do for every float what a GPU does.

    They saturate. NaN becomes 0, but the highest bit alone where 64 bits are converted from or to:
    seen on compute capability 9.0, PTX leaves it open.
    """
    for block in function.blocks:
        made: list[Instruction] = []
        for instruction in block.instructions:
            if instruction.opcode in ("fptosi", "fptoui"):
                made += _saturating(instruction)
            else:
                made.append(instruction)
        block.instructions = made


def _saturating(instruction: Instruction) -> list[Instruction]:
    source, value, target = _conversion(instruction)
    name = f"llvm.{instruction.opcode}.sat.{mangled(target)}.{mangled(source)}"
    debug = re.search(r", !dbg !\d+", instruction.text)
    result = instruction.result
    call = f"call {target} @{name}({source} {value}){debug.group() if debug else ''}"
    element = target[1:-1].partition(" x ")[2] if target.startswith("<") else target
    if "double" not in source and element != "i64":
        return [Instruction(f"{result} = {call}")]
    top = str(-(1 << (int(element[1:]) - 1)))
    bits = "i1"
    if target.startswith("<"):
        count = int(target[1:].partition(" x ")[0])
        bits, top = f"<{count} x i1>", f"<{', '.join([f'{element} {top}'] * count)}>"
    return [
        Instruction(f"{result}.number = {call}"),
        Instruction(f"{result}.nan = fcmp uno {source} {value}, {value}"),
        Instruction(
            f"{result} = select {bits} {result}.nan, {target} {top}, {target} {result}.number"
        ),
    ]


def _conversion(instruction: Instruction) -> tuple[str, str, str]:
    """Source type, operand and target type of a cast."""
    rest = instruction.body.partition(" ")[2]
    while match := _FLAGS.match(rest):
        rest = rest[match.end() :]
    end = type_end(rest)
    value, _, target = rest[end:].strip().partition(" to ")
    return rest[:end], value, target[: type_end(target)]


def mangled(type_text: str) -> str:
    """Returns a type as the names of overloaded intrinsics spell it: v4f32."""
    if type_text.startswith("<"):
        count, _, element = type_text[1:-1].partition(" x ")
        return f"v{count.strip()}{mangled(element.strip())}"
    return _SCALARS.get(type_text, type_text)


class Flushing:
    """Flushes subnormal f32 values in the functions that ask for it."""

    def __init__(self, module: DeviceModule) -> None:
        self._module = module
        self._types: dict[str, None] = {}
        self._count = 0

    def apply(self, function: Function) -> None:
        """Adds flushes before and after the f32 instructions of a function that wants them."""
        mode = self._module.attribute(function, _FLUSH_ATTRIBUTE) or ""
        if not mode.startswith("preserve-sign"):
            return
        for block in function.blocks:
            made: list[Instruction] = []
            for instruction in block.instructions:
                made += self._flushed(instruction)
            block.instructions = made

    def definitions(self) -> list[str]:
        """Returns the functions that flush a value, by type."""
        return [_definition(type_text) for type_text in self._types]

    def _flushed(self, instruction: Instruction) -> list[Instruction]:
        operands = _flushed_operands(instruction)
        if not operands:
            return [instruction]
        before: list[Instruction] = []
        for type_text, value in dict.fromkeys(operands):
            if not value.startswith("%"):
                continue
            self._count += 1
            name = f"%hirc.flushed{self._count}"
            before.append(self._flush(type_text, value, name))
            result = instruction.result
            instruction.replace_locals(
                lambda local, value=value, name=name, result=result: (
                    name if local == value and local != result else local
                )
            )
        result_type = _flushed_result(instruction)
        if result_type is None or instruction.result is None:
            return [*before, instruction]
        self._count += 1
        raw = f"%hirc.raw{self._count}"
        result = instruction.result
        instruction.text = instruction.text.replace(result, raw, 1)
        return [*before, instruction, self._flush(result_type, raw, result)]

    def _flush(self, type_text: str, value: str, name: str) -> Instruction:
        self._types[type_text] = None
        function = f"@hirc.flush.{mangled(type_text)}"
        return Instruction(f"{name} = call {type_text} {function}({type_text} {value})")


def _is_f32(type_text: str) -> bool:
    return mangled(type_text).endswith("f32")


def _flushed_operands(instruction: Instruction) -> list[tuple[str, str]]:
    """Returns the f32 operands that the instruction reads flushed."""
    opcode = instruction.opcode
    rest = instruction.body.partition(" ")[2]
    while match := _FLAGS.match(rest):
        rest = rest[match.end() :]
    if opcode in _ARITHMETIC or opcode == "fcmp":
        rest = rest.partition(" ")[2] if opcode == "fcmp" else rest
        end = type_end(rest)
        values = split_commas(rest[end:])[:2]
        found = [(rest[:end], value) for value in values]
    elif opcode in ("fptrunc", "fpext", "fptosi", "fptoui"):
        source, value, _ = _conversion(instruction)
        found = [(source, value)]
    elif _FLUSHED_INTRINSICS.match(instruction.body):
        inner = instruction.body.partition("(")[2].rpartition(")")[0]
        found = [typed_value(without_attributes(part)) for part in split_commas(inner)]
    else:
        return []
    return [(type_text, value) for type_text, value in found if _is_f32(type_text)]


def _flushed_result(instruction: Instruction) -> str | None:
    """Returns the type of an f32 result that is flushed."""
    operands = _flushed_operands(instruction)
    if instruction.opcode in ("fcmp", "fpext", "fptosi", "fptoui"):
        return None
    if instruction.opcode == "fptrunc":
        target = _conversion(instruction)[2]
        return target if _is_f32(target) else None
    return operands[0][0] if operands else None


def _definition(type_text: str) -> str:
    suffix = mangled(type_text)
    bits = "i1"
    smallest = f"float {_SMALLEST_NORMAL}"
    limit, zero = _SMALLEST_NORMAL, "0.0"
    if type_text.startswith("<"):
        count = int(type_text[1:].partition(" x ")[0])
        bits = f"<{count} x i1>"
        limit = "<" + ", ".join([smallest] * count) + ">"
        zero = "zeroinitializer"
    return f"""\
define internal {type_text} @hirc.flush.{suffix}({type_text} %x) alwaysinline nounwind {{
  %size = call {type_text} @llvm.fabs.{suffix}({type_text} %x)
  %small = fcmp olt {type_text} %size, {limit}
  %signed = call {type_text} @llvm.copysign.{suffix}({type_text} {zero}, {type_text} %x)
  %flushed = select {bits} %small, {type_text} %signed, {type_text} %x
  ret {type_text} %flushed
}}
"""

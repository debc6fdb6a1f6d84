"""The type of the value an instruction defines, read off its text."""

from __future__ import annotations

import re

from .device_ir import Instruction
from .llvm_text import element_types, split_commas, type_end, typed_value, without_attributes

# Words between an operation's name and its first type.
_FLAGS = re.compile(
    r"(?:nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw|volatile|atomic|weak|fast|nnan|ninf|nsz|"
    r"arcp|contract|afn|reassoc|inrange\([^()]*\)|\w*cc|ptx_device)\s+"
)
_CASTS = {
    *("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"),
    *("ptrtoint", "inttoptr", "bitcast", "addrspacecast", "ptrtoaddr"),
}


def result_type(instruction: Instruction) -> str:
    """Returns the type of the instruction's result; "void" for a call that has none."""
    opcode, _, rest = instruction.body.partition(" ")
    rest = _without_flags(rest)
    match opcode:
        case "icmp" | "fcmp":
            operand = _without_flags(rest.partition(" ")[2])
            return _like(operand[: type_end(operand)], "i1")
        case "getelementptr":
            vectors = [typed_value(part)[0] for part in split_commas(rest)[1:] if part[0] != "!"]
            return next((_like(item, "ptr") for item in vectors if item[0] == "<"), "ptr")
        case "alloca":
            return "ptr"
        case "select":
            return typed_value(split_commas(rest)[1])[0]
        case "call":
            return call_type(rest)
        case "extractvalue":
            return _extracted(split_commas(rest))
        case "extractelement":
            return _element(typed_value(split_commas(rest)[0])[0])
        case "shufflevector":
            parts = split_commas(rest)
            count = typed_value(parts[2])[0][1:].partition(" x ")[0]
            return f"<{count} x {_element(typed_value(parts[0])[0])}>"
        case "cmpxchg":
            return f"{{ {typed_value(split_commas(rest)[1])[0]}, i1 }}"
        case "atomicrmw":
            return typed_value(split_commas(rest)[1])[0]
        case _ if opcode in _CASTS:
            target = rest.rpartition(" to ")[2]
            return target[: type_end(target)]
        case _:
            # Arithmetic, load, phi, freeze, fneg, insertvalue, insertelement, va_arg.
            return rest[: type_end(rest)]


def call_type(rest: str) -> str:
    """The result type of a call, given its text after `call`."""
    text = rest
    while True:
        stripped = without_attributes(_without_flags(text))
        if stripped == text:
            break
        text = stripped
    return text[: type_end(text)]


def _without_flags(text: str) -> str:
    while match := _FLAGS.match(text):
        text = text[match.end() :]
    return text


def _like(shape: str, element: str) -> str:
    """`element`, or a vector of it as long as `shape` is."""
    if not shape.startswith("<"):
        return element
    return f"<{shape[1:].partition(' x ')[0]} x {element}>"


def _element(vector: str) -> str:
    return vector[1:-1].partition(" x ")[2].strip()


def _extracted(parts: list[str]) -> str:
    type_text, _ = typed_value(parts[0])
    for index in parts[1:]:
        if not index.isdecimal():
            break
        if type_text.startswith("["):
            type_text = _element(type_text)
        else:
            type_text = element_types(type_text)[int(index)]
    return type_text

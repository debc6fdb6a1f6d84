"""What every part of a function needs at its beginning: values computed from nothing but where the
thread stands and what the kernel was given.

Addresses of shared variables and special registers become instructions of the *prologue*, and so
does every pure instruction that uses nothing else. The prologue goes in front of each region a
kernel is split into: to compute such a value again is cheaper than to keep it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .block_layout import CONTEXT
from .device_ir import Function, Instruction
from .llvm_text import LOCAL, matching

# Instructions that may run whether or not their result is used.
_PURE = {
    *("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "zext", "sext", "trunc"),
    *("getelementptr", "icmp", "select", "bitcast", "addrspacecast", "ptrtoint", "inttoptr"),
}
_CONSTANT_EXPRESSION = re.compile(
    r"\b(getelementptr|addrspacecast|ptrtoint|inttoptr|bitcast|trunc|add|sub|xor)((?: \w+)*) \("
)
_BINARY = {"add", "sub", "xor"}


@dataclass
class Prologue:
    """Instructions in order, each with a name that is unique in its function."""

    instructions: list[Instruction] = field(default_factory=list[Instruction])
    names: set[str] = field(default_factory=set[str])
    _made: dict[str, str] = field(default_factory=dict[str, str])

    def value(self, name: str, body: str) -> str:
        """The local that holds `body`, computed once."""
        if body not in self._made:
            local = f"%{name}"
            while local in self.names:
                local += "."
            self._append(Instruction(f"{local} = {body}"))
            self._made[body] = local
        return self._made[body]

    def _append(self, instruction: Instruction) -> None:
        result = instruction.result
        assert result is not None
        self.instructions.append(instruction)
        self.names.add(result)

    def adopt(self, function: Function) -> None:
        """Moves the function's pure instructions that need nothing but the prologue into it."""
        known = self.names | {item.name for item in function.parameters} | set(CONTEXT)
        moved = True
        while moved:
            moved = False
            for block in function.blocks:
                rest: list[Instruction] = []
                for instruction in block.instructions:
                    if _is_movable(instruction, known):
                        self._append(instruction)
                        known.add(instruction.result or "")
                        moved = True
                    else:
                        rest.append(instruction)
                block.instructions = rest


def _is_movable(instruction: Instruction, known: set[str]) -> bool:
    if instruction.result is None or instruction.opcode not in _PURE:
        return False
    return all(name in known for name in LOCAL.findall(instruction.body))


def expand_constants(text: str, symbols: dict[str, str], prologue: Prologue) -> str:
    """An instruction's text with the locals that `symbols` gives for global names.

    Constant expressions around them become instructions of the prologue.
    """
    names = [name for name in symbols if name in text]
    if not names:
        return text
    for name in names:
        text = re.sub(rf"{re.escape(name)}(?![-\w.$])", symbols[name], text)
    while found := _innermost(text, set(symbols.values()) | prologue.names):
        start, end, body = found
        text = text[:start] + prologue.value("address", body) + text[end:]
    return text


def _innermost(text: str, locals_: set[str]) -> tuple[int, int, str] | None:
    """Where a constant expression that has a local in it lies, and the instruction for it."""
    for match in reversed(list(_CONSTANT_EXPRESSION.finditer(text))):
        end = matching(text, match.end() - 1)
        inner = text[match.end() : end - 1]
        if not locals_.intersection(LOCAL.findall(inner)):
            continue
        operation = match[1] + match[2]
        if match[1] in _BINARY:
            first, _, second = inner.partition(", ")
            inner = f"{first}, {second.split(' ', 1)[1]}"
        return match.start(), end, f"{operation} {inner}"
    return None

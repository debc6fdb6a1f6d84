"""What every part of a function needs at its beginning: values computed from nothing but where the
thread stands and what the kernel was given.

Addresses of shared variables and special registers become instructions of the *prologue*, and so
does every pure instruction that uses nothing else. The prologue goes in front of each region a
kernel is split into: to compute such a value again is cheaper than to keep it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from ...dialects.records import dataclass
from .block_layout import CONTEXT
from .device_ir import Function, Instruction

# Instructions that may run whether or not their result is used.
_PURE = {
    *("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "zext", "sext", "trunc"),
    *("getelementptr", "icmp", "select", "bitcast", "addrspacecast", "ptrtoint", "inttoptr"),
}

# A value that takes more instructions is kept rather than computed again.
_MOST = 32


@dataclass
class Prologue:
    """Instructions in order, each with a name that is unique in its function."""

    instructions: list[Instruction] = field(default_factory=list[Instruction])
    names: set[str] = field(default_factory=set[str])
    _made: dict[str, str] = field(default_factory=dict[str, str])
    # What each name is computed from, and how many instructions that takes at most.
    _operands: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    _costs: dict[str, int] = field(default_factory=dict[str, int])

    def value(self, name: str, body: str) -> str:
        """Returns the local that holds `body`, computed once."""
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
        self._operands[result] = instruction.locals
        self._costs[result] = self._cost(instruction)

    def _cost(self, instruction: Instruction) -> int:
        return 1 + sum(self._costs.get(name, 0) for name in instruction.locals)

    def needed(self, used: Iterable[str]) -> list[Instruction]:
        """Returns the instructions that compute what is used."""
        wanted, waiting = set[str](), list(used)
        while waiting:
            name = waiting.pop()
            if name in self._operands and name not in wanted:
                wanted.add(name)
                waiting += self._operands[name]
        return [item for item in self.instructions if item.result in wanted]

    def adopt(self, function: Function) -> None:
        """Moves the function's pure instructions that need little but the prologue into it."""
        known = self.names | {item.name for item in function.parameters} | set(CONTEXT)
        moved = True
        while moved:
            moved = False
            for block in function.blocks:
                rest: list[Instruction] = []
                for instruction in block.instructions:
                    if _is_movable(instruction, known) and self._cost(instruction) <= _MOST:
                        self._append(instruction)
                        known.add(instruction.result or "")
                        moved = True
                    else:
                        rest.append(instruction)
                block.instructions = rest


def _is_movable(instruction: Instruction, known: set[str]) -> bool:
    if instruction.result is None or instruction.opcode not in _PURE:
        return False
    return all(name in known for name in instruction.locals)

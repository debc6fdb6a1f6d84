"""Calls in device code, taken apart and put together again."""

from __future__ import annotations

import re
from functools import lru_cache

from ...dialects.records import dataclass
from ..ir_text import matching
from .block_layout import CONTEXT
from .device_ir import Instruction
from .llvm_text import GLOBAL, LOCAL, split_commas, typed_value
from .result_types import call_type

_CALLEE = re.compile(rf"(?:^|\s)({GLOBAL.pattern}|{LOCAL.pattern})\(")
_ASSEMBLY = re.compile(r'\basm (?:[a-z]+ )*("[^"]*"), ("[^"]*")\(')
_DEBUG = re.compile(r", !dbg !\d+")


@dataclass(frozen=True)
class Call:
    """A call. `callee` is a global or local name, empty for inline assembly.

    `template` and `constraints` are placeholders of strings.
    """

    callee: str
    result_type: str
    arguments: tuple[tuple[str, str], ...]
    template: str = ""
    constraints: str = ""

    @property
    def function(self) -> str:
        """The callee's name without @, in LLVM's spelling for an intrinsic."""
        name = self.callee[1:]
        return f"llvm.{name[len('hirc.') :]}" if name.startswith("hirc.nvvm.") else name


def parse_call(instruction: Instruction) -> Call | None:
    """Returns the instruction as a call, or None where it is none."""
    if instruction.opcode != "call":
        return None
    return _parsed(instruction.body)


# A kernel's calls are asked for several times before they are changed.
@lru_cache(maxsize=1 << 14)
def _parsed(body: str) -> Call | None:
    # Between tail markers and `call` stand no words, after it flags may.
    rest = body.removeprefix("call ")
    assembly = _ASSEMBLY.search(rest)
    if assembly is not None:
        arguments = rest[assembly.end() : matching(rest, assembly.end() - 1) - 1]
        return Call("", call_type(rest), _typed(arguments), assembly[1], assembly[2])
    found = _CALLEE.search(rest)
    if found is None:
        return None
    end = matching(rest, found.end() - 1)
    return Call(found[1], call_type(rest), _typed(rest[found.end() : end - 1]))


def _typed(arguments: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        typed_value(part) for part in split_commas(arguments) if not part.startswith("metadata")
    )


def make_call(
    instruction: Instruction, function: str, arguments: list[tuple[str, str]], result_type: str
) -> None:
    """Makes the instruction a plain call of `function`, at the same place of the source."""
    result = f"{instruction.result} = " if instruction.result else ""
    listed = ", ".join(f"{type_} {value}" for type_, value in arguments)
    debug = _DEBUG.search(instruction.text)
    instruction.text = f"{result}call {result_type} {function}({listed}){debug[0] if debug else ''}"


def context_arguments(*, whole: bool = True) -> list[tuple[str, str]]:
    """Returns what device functions take first; `whole` is False for C functions,
    which take less.
    """
    wanted = CONTEXT if whole else {"%hirc.block": "ptr", "%hirc.thread": "i32"}
    return [(type_, name) for name, type_ in wanted.items()]

"""Which memory an instruction of device code accesses, and how."""

from __future__ import annotations

import re
from enum import Enum, auto

from ...dialects.records import dataclass
from ..ir_text import matching
from .calls import parse_call
from .device_ir import Instruction
from .llvm_text import size_and_alignment, split_commas, type_end

_SPACE = re.compile(r"^ptr addrspace\((\d+)\)")
_ORDERING = re.compile(
    r'(?: syncscope\("[^"]*"\))?(?: (?:unordered|monotonic|acquire|release|acq_rel|seq_cst))*$'
)
_COPY = re.compile(r"llvm\.mem(?:cpy|move)\b")
_FILL = re.compile(r"llvm\.memset\b")
_BULK_FILL = re.compile(r"(?:llvm|hirc)\.nvvm\.st\.bulk")
_CACHED_LOAD = re.compile(r"(?:llvm|hirc)\.nvvm\.ld[gu]\.global\.")
_ATOMIC = re.compile(r"(?:llvm|hirc)\.nvvm\.atomic\.")
_POINTER_ARGUMENT = re.compile(r"(ptr(?: addrspace\(\d+\))?) .*?([%@][^\s]+|\w+ \(.*\))$")


class AccessKind(Enum):
    """What is done to memory. Strong accesses are volatile or atomic."""

    READ = auto()
    WRITE = auto()
    STRONG_READ = auto()
    STRONG_WRITE = auto()
    ATOMIC = auto()
    COPY = auto()


@dataclass(frozen=True)
class Access:
    """One access: `pointer` and a copy's `source` are typed, `bytes` is a number or a value."""

    kind: AccessKind
    pointer: str
    bytes: str
    source: str = ""

    @property
    def space(self) -> int:
        """The pointer's address space."""
        found = _SPACE.match(self.pointer)
        return int(found[1]) if found else 0


def access_of(instruction: Instruction) -> Access | None:
    """Returns what the instruction accesses; None for nothing, or nothing that is known here."""
    match instruction.opcode:
        case "load":
            return _load(instruction.body.removeprefix("load "))
        case "store":
            return _store(instruction.body.removeprefix("store "))
        case "atomicrmw" | "cmpxchg":
            return _atomic(instruction.body)
        case "call":
            return _call(instruction)
        case _:
            return None


def _flags(text: str) -> tuple[bool, str]:
    """Returns whether an access is atomic or volatile, and what follows those words."""
    strong = False
    for word in ("atomic ", "volatile "):
        if text.startswith(word):
            strong, text = True, text[len(word) :]
    return strong, text


def _pointer(text: str) -> str:
    return _ORDERING.sub("", text)


def _load(text: str) -> Access:
    strong, rest = _flags(text)
    type_, pointer = split_commas(rest)[:2]
    kind = AccessKind.STRONG_READ if strong else AccessKind.READ
    return Access(kind, _pointer(pointer), str(stored_bytes(type_)))


def _store(text: str) -> Access:
    strong, rest = _flags(text)
    value, pointer = split_commas(rest)[:2]
    kind = AccessKind.STRONG_WRITE if strong else AccessKind.WRITE
    return Access(kind, _pointer(pointer), str(stored_bytes(value[: type_end(value)])))


def _atomic(body: str) -> Access:
    pointer, value = split_commas(body[body.index("ptr") :])[:2]
    return Access(AccessKind.ATOMIC, pointer, str(stored_bytes(value[: type_end(value)])))


def _call(instruction: Instruction) -> Access | None:
    call = parse_call(instruction)
    if call is None or not re.match(r"(?:llvm|hirc)\.", call.function):
        return None
    text = instruction.body
    start = text.index(call.callee) + len(call.callee)
    arguments = split_commas(text[start + 1 : matching(text, start) - 1])
    name = call.function
    if _COPY.match(name):
        size = _size(arguments[2])
        return Access(AccessKind.COPY, _argument(arguments[0]), size, _argument(arguments[1]))
    if _FILL.match(name):
        return Access(AccessKind.WRITE, _argument(arguments[0]), _size(arguments[2]))
    if _BULK_FILL.match(name):
        return Access(AccessKind.WRITE, _argument(arguments[0]), _size(arguments[1]))
    if _CACHED_LOAD.match(name):
        size = str(stored_bytes(call.result_type))
        return Access(AccessKind.READ, _argument(arguments[0]), size)
    if _ATOMIC.match(name):
        value = arguments[1]
        size = str(stored_bytes(value[: type_end(value)]))
        return Access(AccessKind.ATOMIC, _argument(arguments[0]), size)
    return None


def _size(text: str) -> str:
    """Returns a size argument as an i64; "0", which is no check, where it is a
    narrower variable.
    """
    value = text.rsplit(" ", 1)[-1]
    return value if value.isdecimal() or text.startswith("i64 ") else "0"


def _argument(text: str) -> str:
    """Returns a pointer argument without its attributes."""
    found = _POINTER_ARGUMENT.match(text)
    return f"{found[1]} {found[2]}" if found else text


def stored_bytes(type_text: str) -> int:
    """Returns the bytes a load or store of the type accesses; 0 where the type's layout is not
    known.
    """
    if re.fullmatch(r"i\d+", type_text):
        return -(-int(type_text[1:]) // 8)
    if type_text.startswith("<") and not type_text.startswith("<{"):
        count, _, element = type_text[1:-1].strip().partition(" x ")
        element = element.strip()
        bits = int(element[1:]) if re.fullmatch(r"i\d+", element) else 8 * stored_bytes(element)
        return -(-int(count) * bits // 8)
    try:
        return size_and_alignment(type_text)[0]
    except ValueError:
        return 0

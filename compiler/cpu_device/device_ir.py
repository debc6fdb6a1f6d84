"""A device module as text in parts: globals, functions of blocks of instructions, metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from ...dialects.records import dataclass
from ..ir_text import IrText, Strings, matching
from .llvm_text import GLOBAL, LOCAL, split_commas, type_end, typed_value

_LABEL = re.compile(r"^([-\w.$]+):")
_NUMBERED = re.compile(r"%(?=\d+\b)")
_DEBUG = re.compile(r", !dbg !(\d+)")
_LAST_LOCAL = re.compile(rf"%({LOCAL.pattern.removeprefix('%')})$")
_ALIAS = re.compile(rf"(?m)^({GLOBAL.pattern}) = [^@\n]*\balias (.*)\n")
_AMD_KERNEL = "amdgpu_kernel"
_KERNELS = {"ptx_kernel", _AMD_KERNEL}
_PREFIXES = ("tail ", "musttail ", "notail ")


class Instruction:
    """One instruction: `text` is the whole line without indentation.

    `result` is the local name it defines, `body` the text without that and without a call's tail
    marker. They are read when the text is set: a kernel's instructions are looked at often.
    """

    __slots__ = ("_locals", "_text", "body", "opcode", "result")

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Instruction({self._text!r})"

    @property
    def text(self) -> str:
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        self._text = text
        self._locals: tuple[str, ...] | None = None
        before, equals, after = text.partition(" = ") if text.startswith("%") else (text, "", "")
        self.result, body = (before, after) if equals else (None, text)
        if body.startswith(_PREFIXES):
            body = body.partition(" ")[2]
        self.body = body
        self.opcode = body.partition(" ")[0].rstrip(",")

    @property
    def locals(self) -> tuple[str, ...]:
        """The local names of the body, as often as they stand there."""
        if self._locals is None:
            self._locals = tuple(LOCAL.findall(self.body))
        return self._locals

    @property
    def debug(self) -> int | None:
        """The number of its location's metadata."""
        match = _DEBUG.search(self._text)
        return int(match[1]) if match else None

    @property
    def successors(self) -> list[str]:
        """The labels that a terminator may go to, with their %."""
        return re.findall(rf"label ({LOCAL.pattern})", self._text)

    def replace_locals(self, replacement: Callable[[str], str]) -> None:
        self.text = LOCAL.sub(lambda match: replacement(match.group()), self._text)


@dataclass
class Block:
    """A basic block. `label` has no %; the last instruction is the terminator."""

    label: str
    instructions: list[Instruction] = field(default_factory=list[Instruction])

    @property
    def name(self) -> str:
        return f"%{self.label}"

    @property
    def terminator(self) -> Instruction:
        return self.instructions[-1]

    @property
    def phis(self) -> list[Instruction]:
        return [item for item in self.instructions if item.opcode == "phi"]


def locals_of(blocks: Iterable[Block]) -> set[str]:
    """Every local name in the blocks."""
    found: set[str] = set()
    for block in blocks:
        for item in block.instructions:
            found.update(item.locals)
            if item.result is not None:
                found.add(item.result)
    return found


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function.

    `byval` is the type that its pointer passes by value, aligned to `align`, or empty.
    """

    type: str
    name: str
    byval: str = ""
    align: int = 0
    readonly: bool = False
    noalias: bool = False


@dataclass
class Function:
    """A definition.

    `header` is what stands before the name, `trailer` what follows the parameters.
    """

    name: str
    header: str
    trailer: str
    parameters: list[Parameter]
    blocks: list[Block]

    @property
    def is_kernel(self) -> bool:
        return is_kernel(self.header)

    @property
    def result_type(self) -> str:
        return self.header.split(" ", 1)[1].rsplit("  ", 1)[-1]

    @property
    def attribute_group(self) -> int | None:
        match = re.search(r"#(\d+)", self.trailer)
        return int(match[1]) if match else None

    @property
    def subprogram(self) -> int | None:
        match = re.search(r"!dbg !(\d+)", self.trailer)
        return int(match[1]) if match else None

    def instructions(self) -> Iterator[Instruction]:
        for block in self.blocks:
            yield from block.instructions


@dataclass
class DeviceModule:
    """A module's parts, in the order they are printed, and what its placeholders stand for."""

    strings: Strings = field(default_factory=Strings)
    variables: dict[str, str] = field(default_factory=dict[str, str])
    aliases: list[str] = field(default_factory=list[str])
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    declarations: dict[str, str] = field(default_factory=dict[str, str])
    attributes: dict[int, str] = field(default_factory=dict[int, str])
    metadata: dict[int, str] = field(default_factory=dict[int, str])
    named_metadata: list[str] = field(default_factory=list[str])
    assembly: list[str] = field(default_factory=list[str])

    def kernels(self) -> list[Function]:
        return [function for function in self.functions.values() if function.is_kernel]

    def attribute(self, function: Function, name: str) -> str | None:
        """The value of a string attribute of the function's group: "nvvm.maxntid"."""
        group = self.attributes.get(function.attribute_group or -1, "")
        if function.attribute_group == 0:
            group = self.attributes.get(0, "")
        key = self.strings.find(name)
        match = re.search(rf'{key}(?:=("[^"]*"))?', group) if key else None
        if match is None:
            return None
        return self.strings.text(match[1]) if match[1] else ""


def is_kernel(definition: str) -> bool:
    """Returns whether a definition's first line, or its part before the name, is a kernel's."""
    return not _KERNELS.isdisjoint(definition.partition("@")[0].split())


def is_amd_kernel(definition: str) -> bool:
    """Returns whether it is a kernel for AMD's chips."""
    return _AMD_KERNEL in definition.partition("@")[0].split()


def parse_module(text: IrText, *, kernels: bool = True) -> DeviceModule:
    """Takes LLVM's own printed text apart; without `kernels`, all but these.

    Unnamed values and blocks get names, and named types are spelled out.
    """
    module = DeviceModule(text.strings)
    lines = iter(_without_aliases(_without_type_names(text.code)).splitlines())
    for line in lines:
        if line.startswith("define "):
            if not kernels and is_kernel(line):
                while next(lines) != "}":
                    pass
                continue
            function = _function(line, lines)
            module.functions[function.name] = function
        elif line.startswith("declare "):
            found = GLOBAL.search(line)
            assert found is not None, line
            module.declarations[found.group()] = line
        elif line.startswith("@"):
            name, _, value = line.partition(" = ")
            if re.search(r"\b(alias|ifunc)\b", value.partition("@")[0]):
                module.aliases.append(line)
            else:
                module.variables[name] = value
        elif match := re.match(r"attributes #(\d+) = (\{.*\})", line):
            module.attributes[int(match[1])] = match[2]
        elif match := re.match(r"!(\d+) = (.*)", line):
            module.metadata[int(match[1])] = match[2]
        elif line.startswith("!"):
            module.named_metadata.append(line)
        elif line.startswith("module asm"):
            module.assembly.append(line)
    return module


def _without_type_names(text: str) -> str:
    types = dict(re.findall(rf"(?m)^({LOCAL.pattern}) = type (.*)$", text))
    if not types:
        return text
    text = re.sub(rf"(?m)^{LOCAL.pattern} = type .*$", "", text)
    names = re.compile("|".join(rf"{re.escape(name)}(?![-\w.$])" for name in types))
    while names.search(text):
        text = names.sub(lambda match: types[match.group()], text)
    return text


def _without_aliases(text: str) -> str:
    """Spells what aliases stand for in their place."""
    while aliases := dict[str, str](_ALIAS.findall(text)):
        text = _ALIAS.sub("", text)
        for name, definition in aliases.items():
            value = split_commas(definition)[1]
            if value.startswith("ptr"):
                value = typed_value(value)[1]
            text = re.sub(rf"{re.escape(name)}(?![-\w.$])", lambda _, value=value: value, text)
    return text


def _function(define: str, lines: Iterator[str]) -> Function:
    found = GLOBAL.search(define)
    assert found is not None, define
    end = matching(define, found.end())
    parameters = [
        _parameter(part, number)
        for number, part in enumerate(split_commas(define[found.end() + 1 : end - 1]))
    ]
    header = define[len("define ") : found.start()].strip()
    trailer = define[end:].rstrip("{").strip()
    # An entry block without a label has the number that follows the unnamed parameters'.
    unnamed = sum(bool(re.fullmatch(r"%n\.\d+", item.name)) for item in parameters)
    blocks = [Block(f"n.{unnamed}")]
    for line in lines:
        if line == "}":
            break
        if label := _LABEL.match(line):
            if blocks[-1].instructions:
                blocks.append(Block(_named(label[1])))
            else:
                blocks[-1].label = _named(label[1])
        elif line.strip() and not line.lstrip().startswith("#dbg"):
            blocks[-1].instructions.append(Instruction(_joined(line, lines)))
    return Function(found.group(), header, trailer, parameters, blocks)


def _joined(line: str, lines: Iterator[str]) -> str:
    """One instruction on one line; a switch goes over several."""
    text = line.strip()
    if text.startswith("switch ") and not text.endswith("]"):
        for more in lines:
            text += " " + more.strip()
            if more.strip().startswith("]"):
                break
    return _NUMBERED.sub("%n.", text)


def _named(label: str) -> str:
    return f"n.{label}" if label.isdecimal() else label


def _parameter(text: str, number: int) -> Parameter:
    name = _LAST_LOCAL.search(text)
    local = f"%{_named(name[1])}" if name else f"%n.{number}"
    type_text = text[: type_end(text)].partition(" addrspace(")[0]
    byval = ""
    if "byval(" in text:
        start = text.index("byval(") + len("byval")
        byval = text[start + 1 : matching(text, start) - 1]
    align = re.search(r"\balign (\d+)", text)
    return Parameter(
        type_text,
        local,
        byval,
        int(align[1]) if align and byval else 0,
        readonly=bool(re.search(r"\bread(?:only|none)\b|nvvm.grid_constant", text)),
        noalias=bool(re.search(r"\bnoalias\b", text)),
    )

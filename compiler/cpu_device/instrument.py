"""Checks in device code: a call of the runtime before every access to memory.

The checks need what the GPU's IR still says, address spaces and locations, so they are put in first
of all; what follows takes them for ordinary calls. The functions they call are in runtime/checks/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from ...dialects.records import dataclass
from ..ir_text import plain_name
from ..options import CHECKS
from .accesses import Access, AccessKind, access_of
from .block_layout import BLOCK, THREAD
from .debug_info import source_of
from .device_ir import DeviceModule, Function, Instruction
from .llvm_text import LOCAL, shown_name, size_and_alignment, split_commas, type_end

# Bytes between shared variables that belong to none, so that an access beyond one is in no other.
SHARED_GAP = 128

_FUNCTIONS = {
    AccessKind.READ: "hirc_check_read",
    AccessKind.WRITE: "hirc_check_write",
    AccessKind.STRONG_READ: "hirc_check_strong_read",
    AccessKind.STRONG_WRITE: "hirc_check_strong_write",
    AccessKind.ATOMIC: "hirc_check_atomic",
}
_ACCESS_PARAMETERS = "ptr, i32, ptr, i64, ptr"
DECLARATIONS = (
    *(f"declare void @{name}({_ACCESS_PARAMETERS})" for name in _FUNCTIONS.values()),
    "declare void @hirc_check_copy(ptr, i32, ptr, ptr, i64, ptr)",
    "declare void @hirc_check_operation(ptr, i32, ptr)",
    "declare void @hirc_check_told(ptr, i32, ptr)",
)
"""The functions that instrumented code calls: context, address, bytes and site."""

_LOCAL_SPACE, _PARAMETER_SPACE = 5, 101
_DERIVED = ("getelementptr", "addrspacecast", "bitcast", "select")
_SPACE = re.compile(r"\baddrspace\((\d+)\)")
# Operations whose C functions access memory or order threads: they are told whose turn it is.
_OPERATION = re.compile(r"@(?:llvm\.nvvm|hirc\.nvvm|hirc\.ptx)\.(?:cp|mbarrier|st|red)\.")
# What tells the threads of a cluster what was done before it.
_TELLS = re.compile(
    r"@(?:llvm|hirc)\.nvvm\.(?:barrier\.cluster\.arrive(?!\.relaxed)|membar\.(?:gl|sys)|"
    r"fence\.(?:sc|acq_rel|release)\.)|^fence (?!syncscope\(\"block\"\))"
)


def instrument(module: DeviceModule, checks: frozenset[str]) -> None:
    """Puts the checks of these kinds (CHECKS) into every function of the module."""
    unknown = checks.difference(CHECKS)
    if unknown:
        raise ValueError(f"unknown checks: {', '.join(sorted(unknown))}")
    if checks:
        _Instrumenter(module).run()


@dataclass
class _Instrumenter:
    module: DeviceModule
    _sites: dict[tuple[str, str, int], str] = field(default_factory=dict[tuple[str, str, int], str])
    _strings: dict[str, str] = field(default_factory=dict[str, str])
    _variables: str = ""

    def run(self) -> None:
        self._variables = self._variable_table()
        for function in self.module.functions.values():
            own = _own_memory(function)
            for block in function.blocks:
                checked: list[Instruction] = []
                for instruction in block.instructions:
                    checked += self._checks(function, instruction, own)
                    checked.append(instruction)
                block.instructions = checked

    def _checks(
        self, function: Function, instruction: Instruction, own: set[str]
    ) -> Iterator[Instruction]:
        access = access_of(instruction)
        if access is None:
            if _OPERATION.search(instruction.text):
                yield self._call(function, instruction, "hirc_check_operation", (), 0)
            elif _TELLS.search(instruction.text):
                yield self._call(function, instruction, "hirc_check_told", (), 0)
            return
        if access.kind is AccessKind.COPY:
            arguments = (access.pointer, access.source, f"i64 {access.bytes}")
            if not {_name(access.pointer), _name(access.source)} <= own:
                yield self._call(function, instruction, "hirc_check_copy", arguments, access.space)
        elif _is_checked(access, own):
            arguments = (access.pointer, f"i64 {access.bytes}")
            name = _FUNCTIONS[access.kind]
            yield self._call(function, instruction, name, arguments, access.space)

    def _call(
        self,
        function: Function,
        instruction: Instruction,
        name: str,
        arguments: tuple[str, ...],
        space: int,
    ) -> Instruction:
        site = self._site(function, instruction, space)
        passed = ", ".join((f"ptr {BLOCK}", f"i32 {THREAD}", *arguments, f"ptr {site}"))
        debug = f", !dbg !{instruction.debug}" if instruction.debug is not None else ""
        return Instruction(f"call void @{name}({passed}){debug}")

    def _site(self, function: Function, instruction: Instruction, space: int) -> str:
        """Returns the constant that describes a place of the source: struct hirc_site."""
        source = source_of(self.module, instruction.debug)
        if not source:
            source = source_of(self.module, function.subprogram)
        key = (source, function.name, space)
        if key not in self._sites:
            name = f"@hirc.site.{len(self._sites)}"
            plain = shown_name(function.name)
            self.module.variables[name] = (
                "private unnamed_addr constant { ptr, ptr, ptr, i32, i32 } "
                f"{{ ptr {self._string(source)}, ptr {self._string(plain)}, "
                f"ptr {self._variables}, i32 {space}, i32 0 }}, align 8"
            )
            self._sites[key] = name
        return self._sites[key]

    def _string(self, text: str) -> str:
        if text not in self._strings:
            name = f"@hirc.site.string.{len(self._strings)}"
            size = len(text.encode("utf-8", "surrogateescape")) + 1
            literal = self.module.strings.hold_text(text + "\0")
            self.module.variables[name] = (
                f"private unnamed_addr constant [{size} x i8] c{literal}, align 1"
            )
            self._strings[text] = name
        return self._strings[text]

    def _variable_table(self) -> str:
        """Returns what device code may access besides allocations: the module's own variables."""
        entries: list[str] = []
        for name, text in list(self.module.variables.items()):
            size = _variable_bytes(text)
            if size and not name.startswith("@llvm."):
                label = self._string(plain_name(name))
                space = _SPACE.search(text)
                pointer = f"ptr {name}"
                if space and int(space[1]):
                    pointer = f"ptr addrspacecast (ptr addrspace({space[1]}) {name} to ptr)"
                entries.append(f"{{ ptr, i64, ptr }} {{ {pointer}, i64 {size}, ptr {label} }}")
        entries.append("{ ptr, i64, ptr } zeroinitializer")
        table = "@hirc.site.variables"
        self.module.variables[table] = (
            f"private unnamed_addr constant [{len(entries)} x {{ ptr, i64, ptr }}] "
            f"[{', '.join(entries)}], align 8"
        )
        return table


def _variable_bytes(text: str) -> int:
    """Returns the size of a variable in global or constant memory; 0 for shared memory."""
    found = re.search(r"\b(?:global|constant) ", text)
    if found is None or re.search(r"\baddrspace\(3\) (?:global|constant) ", text):
        return 0
    value = text[found.end() :]
    try:
        return size_and_alignment(value[: type_end(value)])[0]
    except ValueError:
        return 0


def _is_checked(access: Access, own: set[str]) -> bool:
    return (
        access.bytes != "0"
        and access.space not in (_LOCAL_SPACE, _PARAMETER_SPACE)
        and _name(access.pointer) not in own
    )


def _name(pointer: str) -> str:
    """Returns the value of a typed pointer."""
    return pointer.rsplit(" ", 1)[-1]


def _own_memory(function: Function) -> set[str]:
    """Pointers plainly into the thread's own stack or its arguments: they need no checks."""
    own = {item.name for item in function.parameters if item.byval}
    derived: list[tuple[str, list[str]]] = []
    for instruction in function.instructions():
        result = instruction.result
        if result is None:
            continue
        if instruction.opcode == "alloca":
            own.add(result)
        elif instruction.opcode in _DERIVED:
            derived.append((result, _bases(instruction)))
    grown = True
    while grown:
        grown = False
        for result, bases in derived:
            if result not in own and bases and all(base in own for base in bases):
                own.add(result)
                grown = True
    return own


def _bases(instruction: Instruction) -> list[str]:
    """Returns the pointers that a pointer is computed from; empty for what is no pointer."""
    body = instruction.body
    if instruction.opcode in ("addrspacecast", "bitcast"):
        found = re.match(rf"\w+ ptr(?: addrspace\(\d+\))? ({LOCAL.pattern}) to ", body)
        return [found[1]] if found else []
    if instruction.opcode == "getelementptr":
        typed = split_commas(body)[1]
        return [_name(typed)] if typed.startswith("ptr") else []
    if instruction.opcode == "select":
        return [_name(part) for part in split_commas(body)[1:3] if part.startswith("ptr")]
    return []

"""Locations in device code's debug metadata: for messages, and for functions made of a kernel."""

from __future__ import annotations

import re
from dataclasses import field

from ...dialects.records import dataclass
from ..ir_text import Strings
from .device_ir import DeviceModule, Function, Instruction
from .llvm_text import without_digest

_FIELD = re.compile(r'(\w+): (!\d+|"[^"]*"|[^,()]+)')
_NAME = re.compile(r'(\b(?:name|linkageName): )"[^"]*"')
_DEBUG = re.compile(r"!dbg !(\d+)")


def _fields(text: str) -> dict[str, str]:
    return {match[1]: match[2] for match in _FIELD.finditer(text)}


def source_of(module: DeviceModule, number: int | None) -> str:
    """`file:line:column` of a location, `file:line` of a function, or nothing."""
    if number is None:
        return ""
    fields = _fields(module.metadata.get(number, ""))
    place = _file(module, number)
    parts = [place, fields.get("line", ""), fields.get("column", "")]
    return ":".join(part for part in parts if part) if place else ""


def _file(module: DeviceModule, number: int) -> str:
    """Returns the file of the nearest scope that names one."""
    text = module.metadata.get(number, "")
    fields = _fields(text)
    if "filename" in fields:
        strings = module.strings
        directory = strings.text(fields["directory"]) if "directory" in fields else ""
        name = strings.text(fields["filename"])
        return f"{directory}/{name}" if directory and not name.startswith("/") else name
    for key in ("file", "scope"):
        if fields.get(key, "").startswith("!"):
            return _file(module, int(fields[key][1:]))
    return ""


def for_host(text: str, strings: Strings) -> str:
    """Returns a node of the device's metadata as the host's debuggers are to see it.

    The device's line tables are for PTX, which LLVM writes no DWARF for. Functions get the names
    that the user gave them; the symbols stay.
    """
    text = text.replace("DebugDirectivesOnly", "FullDebug")
    if "!DISubprogram(" not in text:
        return text
    # Debuggers prefer a linkage name, which is the symbol.
    text = re.sub(r', linkageName: "[^"]*"', "", text)
    return re.sub(
        r'(?<=\bname: )"[^"]*"',
        lambda match: strings.hold_text(without_digest(strings.text(match[0]))),
        text,
        count=1,
    )


@dataclass
class RegionLocations:
    """Gives a function made of a kernel's code a subprogram of its own.

    LLVM wants every location inside a function to end in the function's own subprogram, and no
    two functions to share one. So the kernel's code counts as inlined into the new function:
    debuggers show the kernel's lines, and the kernel as the innermost frame.
    """

    module: DeviceModule
    subprogram: int
    _new: dict[int, int] = field(default_factory=dict[int, int])

    @classmethod
    def of(cls, module: DeviceModule, kernel: Function, name: str) -> RegionLocations | None:
        """For a new function `name`; None where the kernel has no debug information."""
        if kernel.subprogram is None:
            return None
        text = module.metadata[kernel.subprogram]
        text = _NAME.sub(rf"\1{module.strings.hold_text(name)}", text)
        text = re.sub(r"(?:, )?(?:declaration|retainedNodes): !\d+", "", text)
        return cls(module, _added(module, text))

    @property
    def call_site(self) -> int:
        """A location in the new function itself: its first line."""
        line = _fields(self.module.metadata[self.subprogram]).get("line", "0")
        if 0 not in self._new:
            self._new[0] = _added(
                self.module, f"distinct !DILocation(line: {line}, scope: !{self.subprogram})"
            )
        return self._new[0]

    def moved(self, number: int) -> int:
        """Returns the location `number`, as of code inlined into the new function."""
        if number not in self._new:
            text = self.module.metadata[number]
            found = re.search(r"inlinedAt: !(\d+)", text)
            if found is None:
                outer = f"inlinedAt: !{self.call_site})"
                text = text[: text.rindex(")")] + ", " + outer
            else:
                text = text.replace(found.group(), f"inlinedAt: !{self.moved(int(found[1]))}")
            self._new[number] = _added(self.module, text)
        return self._new[number]

    def move(self, instruction: Instruction) -> None:
        """Gives an instruction the location it has in the new function."""
        instruction.text = _DEBUG.sub(
            lambda match: f"!dbg !{self.moved(int(match[1]))}", instruction.text
        )


def _added(module: DeviceModule, text: str) -> int:
    number = next(reversed(module.metadata), 0) + 1
    module.metadata[number] = text
    return number

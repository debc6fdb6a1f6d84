"""Inline PTX in device code becomes calls of functions that do the same, to be inlined."""

from __future__ import annotations

import re

from ..errors import UnsupportedError
from ..ir_text import IrText
from .calls import Call, parse_call
from .device_ir import DeviceModule, Instruction, parse_module
from .inline_ptx import inline_ptx
from .refusals import HINT, position_of

_ASSEMBLY = re.compile(r'^\s*(?:%\S+ = )?(?:(?:tail|notail|musttail) )?call .*\basm [a-z ]*"')


def with_ptx_functions(nvvm: IrText) -> tuple[IrText, bool]:
    """Returns the module with each template replaced, and those that do nothing gone, and whether
    there are functions for the others. Raises UnsupportedError for one that is not known.
    """
    return _Replacement(nvvm).run()


def with_ptx_as_ir(nvvm: IrText) -> IrText:
    """Returns the module with functions in place of the templates where LLVM's IR says all that
    they do, before it is optimised. Where one is not known, or needs what involves other threads,
    the module is left as it is: what is unknown may be gone once it is optimised.
    """
    replacement = _Replacement(nvvm)
    try:
        text, _ = replacement.run()
    except UnsupportedError:
        return nvvm
    return text if replacement.is_plain else nvvm


class _Replacement:
    def __init__(self, nvvm: IrText) -> None:
        self._text = nvvm
        self._module: DeviceModule | None = None
        self._names: dict[tuple[object, ...], str] = {}
        self._definitions: list[str] = []
        self._declarations: dict[str, str] = {}
        self._casts = 0

    def run(self) -> tuple[IrText, bool]:
        lines: list[str] = []
        for line in self._text.code.splitlines():
            lines += self._line(line) if _ASSEMBLY.match(line) else [line]
        declared = [
            text
            for name, text in self._declarations.items()
            if not re.search(rf"(?m)^declare .*@{re.escape(name)}\(", self._text.code)
        ]
        code = "\n".join([*lines, *declared, *self._definitions]) + "\n"
        return self._text.with_code(code), bool(self._definitions)

    @property
    def is_plain(self) -> bool:
        """Returns whether the functions call none but LLVM's own."""
        return all(name.startswith("llvm.") for name in self._declarations)

    def _line(self, line: str) -> list[str]:
        instruction = Instruction(line.strip())
        call = parse_call(instruction)
        if call is None or not call.template:
            return [line]
        if len(call.arguments) == 1 and instruction.result and not self._template(call).strip():
            # A value that is hidden from the compiler, in whatever register.
            ((type_, value),) = call.arguments
            return [f"  {instruction.result} = freeze {type_} {value}"]
        name = self._function(instruction, call)
        if not name:
            return []
        casts: list[str] = []
        arguments = ", ".join(self._generic(type_, value, casts) for type_, value in call.arguments)
        result = f"{instruction.result} = " if instruction.result else ""
        debug = f", !dbg !{instruction.debug}" if instruction.debug is not None else ""
        return [*casts, f"  {result}call {call.result_type} @{name}({arguments}){debug}"]

    def _template(self, call: Call) -> str:
        return self._text.strings.text(call.template)

    def _generic(self, type_text: str, value: str, casts: list[str]) -> str:
        """Returns an argument, with a pointer to any address space as a generic one."""
        if not type_text.startswith("ptr "):
            return f"{type_text} {value}"
        if value.startswith("%"):
            self._casts += 1
            name = f"%hirc.generic{self._casts}"
            casts.append(f"  {name} = addrspacecast {type_text} {value} to ptr")
            return f"ptr {name}"
        return f"ptr addrspacecast ({type_text} {value} to ptr)"

    def _function(self, instruction: Instruction, call: Call) -> str:
        """Returns the function for a template with these types and constants; an empty name for one
        that does nothing.
        """
        operands = [
            ("ptr" if item[0].startswith("ptr") else item[0], item[1]) for item in call.arguments
        ]
        try:
            strings = self._text.strings
            operation = inline_ptx(strings.text(call.template), strings.text(call.constraints))
            constants = tuple(
                value if operation.immediate[number] else ""
                for number, (_, value) in enumerate(operands)
            )
            types = tuple(type_ for type_, _ in operands)
            key = (call.template, call.constraints, call.result_type, types, constants)
            if key not in self._names:
                name = f"hirc.template.{len(self._definitions)}"
                made = operation.function(name, call.result_type, operands)
                self._names[key] = "" if made.is_empty else name
                if not made.is_empty:
                    self._definitions.append(made.definition)
                    self._declarations.update(made.declarations)
        except UnsupportedError as error:
            if self._module is None:
                self._module = parse_module(self._text)
            error.position = error.position or position_of(self._module, instruction)
            error.hint = error.hint or HINT
            raise
        return self._names[key]

"""Writing the LLVM IR that does what a template says, as a function of its operands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..llvm_text import element_types, size_and_alignment

# LLVM types of PTX's; integers have no sign in both register files.
TYPES = {
    "pred": "i1",
    "f16": "half",
    "bf16": "bfloat",
    "f16x2": "<2 x half>",
    "bf16x2": "<2 x bfloat>",
    "f32": "float",
    "tf32": "i32",
    "f64": "double",
    **{f"{kind}{bits}": f"i{bits}" for kind in "bus" for bits in (8, 16, 32, 64, 128)},
}
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)[uU]?")
_HEXADECIMAL_FLOAT = re.compile(r"0[fFdD]([0-9a-fA-F]{8,16})")
_DECIMAL_FLOAT = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?")
_ADDRESS = re.compile(r"\[\s*([%$\w]+)\s*(?:([+-])\s*(0x[0-9a-fA-F]+|\d+))?\s*\]")


def bits_of(type_: str) -> int:
    """Returns the width of a type as a register."""
    return 1 if type_ == "i1" else size_and_alignment(type_)[0] * 8


class Writer:
    """Writes instructions, with registers as stack slots that LLVM turns into values.

    `operands` are the types of `$0`, `$1` ...: results first; `tied` says which result an input
    begins as.
    """

    def __init__(
        self, result_type: str, outputs: int, inputs: Sequence[str], tied: Sequence[int | None]
    ) -> None:
        self.result_type = result_type
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self._slots: dict[str, str] = {}
        self._values: dict[str, tuple[str, str]] = {}
        self._constants: dict[str, str] = {}
        self._count = 0
        self._outputs = self._output_types(outputs)
        for number, type_ in enumerate(self._outputs):
            self.declare(f"${number}", type_)
        for number, type_ in enumerate(inputs):
            self._values[f"${outputs + number}"] = (type_, f"%{number}")
            if (output := tied[number]) is not None:
                self.assign(f"${output}", type_, f"%{number}")

    def _output_types(self, outputs: int) -> list[str]:
        if outputs == 0:
            return []
        return element_types(self.result_type) if outputs > 1 else [self.result_type]

    # --- text

    def emit(self, text: str) -> str:
        """Writes an instruction with a result, and returns its name."""
        self._count += 1
        self.lines.append(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def label(self) -> str:
        """Returns a new label's name."""
        self._count += 1
        return f"b{self._count}"

    def begin(self, label: str) -> None:
        """Goes on in another basic block."""
        self.lines += [f"br label %{label}", f"{label}:"]

    def open(self, label: str) -> None:
        """Begins a basic block after a terminator."""
        self.lines.append(f"{label}:")

    def label_of(self, name: str) -> str:
        """Returns the block of a label of the template."""
        return f"L.{name.replace('%', '.')}"

    def call(self, result: str, name: str, arguments: Sequence[tuple[str, str]]) -> str:
        """Calls a function with typed values; the result's name, empty for void.

        `llvm.nvvm.…` is called as `hirc.nvvm.…`: an intrinsic's own pointers would have to be in
        its address spaces, and what `$n` points to may be in any.
        """
        listed = ", ".join(f"{type_} {value}" for type_, value in arguments)
        types = ", ".join(type_ for type_, _ in arguments)
        name = name.replace("llvm.nvvm.", "hirc.nvvm.", 1)
        ours = " convergent nounwind" if name.startswith("hirc.") else ""
        self.declared[name] = f"declare {result} @{name}({types}){ours}"
        text = f"call {result} @{name}({listed})"
        if result == "void":
            self.line(text)
            return ""
        return self.emit(text)

    # --- registers and operands

    def declare(self, name: str, type_: str) -> None:
        """A register of an LLVM type."""
        slot = self.emit(f"alloca {type_}")
        self._slots[name] = slot
        self._values[name] = (type_, "")

    def fix(self, number: int, value: str) -> None:
        """Makes an operand the constant that it is in every call."""
        self._constants[f"${number}"] = {"true": "1", "false": "0"}.get(value, value)

    def constant(self, operand: str) -> int:
        """Returns an integer that must be known now."""
        return int(self._constants.get(operand, operand).rstrip("uU"), 0)

    def type_of(self, operand: str) -> str | None:
        """Returns the LLVM type of a register or operand, None for a constant."""
        found = self._values.get(operand)
        return found[0] if found else None

    def read(self, operand: str, type_: str) -> str:
        """Returns the value of a register, operand or constant as `type_`."""
        negated = operand.startswith("!")
        operand = operand.removeprefix("!")
        operand = self._constants.get(operand, operand)
        if operand in self._slots:
            own = self._values[operand][0]
            value = self.convert(self.emit(f"load {own}, ptr {self._slots[operand]}"), own, type_)
        elif operand in self._values:
            own, value = self._values[operand]
            value = self.convert(value, own, type_)
        else:
            value = self._constant(operand, type_)
        return self.emit(f"xor i1 {value}, true") if negated else value

    def assign(self, operand: str, type_: str, value: str) -> None:
        """Gives a register a value of `type_`; `_` takes none."""
        if operand == "_":
            return
        if operand not in self._slots:
            raise KeyError(operand)
        own = self._values[operand][0]
        self.line(f"store {own} {self.convert(value, type_, own)}, ptr {self._slots[operand]}")

    def address(self, operand: str) -> str:
        """Returns the pointer that `[a]` or `[a+8]` is."""
        match = _ADDRESS.fullmatch(operand)
        if match is None:
            raise KeyError(operand)
        pointer = self.read(match[1], "ptr")
        if match[3]:
            pointer = self.emit(
                f"getelementptr i8, ptr {pointer}, i64 {int(match[2] + match[3], 0)}"
            )
        return pointer

    def convert(self, value: str, own: str, wanted: str) -> str:
        """Returns the same bits as another type: cut off or filled with zeros where the widths
        differ.
        """
        if own == wanted:
            return value
        if own.startswith("ptr"):
            if wanted.startswith("ptr"):
                return self.emit(f"addrspacecast {own} {value} to {wanted}")
            value, own = self.emit(f"ptrtoint {own} {value} to i64"), "i64"
            return self.convert(value, own, wanted)
        if not own.startswith("i"):
            integer = f"i{bits_of(own)}"
            value, own = self.emit(f"bitcast {own} {value} to {integer}"), integer
            return self.convert(value, own, wanted)
        if wanted.startswith("ptr"):
            return self.emit(f"inttoptr i64 {self.convert(value, own, 'i64')} to {wanted}")
        width, target = bits_of(own), bits_of(wanted)
        if width != target:
            change = "zext" if width < target else "trunc"
            value = self.emit(f"{change} {own} {value} to i{target}")
        if not wanted.startswith("i"):
            value = self.emit(f"bitcast i{target} {value} to {wanted}")
        return value

    def _constant(self, text: str, type_: str) -> str:
        if _INTEGER.fullmatch(text):
            number = int(text.rstrip("uU"), 0)
            if type_ in ("float", "double"):
                return f"{float(number)!r}"
            if type_ == "i1":
                return "true" if number else "false"
            if type_.startswith("i"):
                width = bits_of(type_)
                number &= (1 << width) - 1
                return str(number)
            return self.convert(str(number & 0xFFFFFFFFFFFFFFFF), "i64", type_)
        if match := _HEXADECIMAL_FLOAT.fullmatch(text):
            width = len(match[1]) * 4
            return self.convert(str(int(match[1], 16)), f"i{width}", type_)
        if _DECIMAL_FLOAT.fullmatch(text):
            if type_ == "float":  # a constant of LLVM must be exact
                return self.emit(f"fptrunc double {float(text)!r} to float")
            return f"{float(text)!r}"
        raise KeyError(text)

    # --- the whole

    def definition(self, name: str, inputs: Sequence[str]) -> str:
        """Returns the function's text. Its parameters are the template's inputs."""
        result = "void"
        if self._outputs:
            result = self.result_type
        body = [*self.lines, *self._return()]
        entry = [line for line in body if " = alloca " in line]
        rest = [line for line in body if " = alloca " not in line]
        indented = [line if line.endswith(":") else f"  {line}" for line in [*entry, *rest]]
        parameters = ", ".join(f"{type_} %{number}" for number, type_ in enumerate(inputs))
        head = f"define internal {result} @{name}({parameters})"
        return "\n".join([f"{head} alwaysinline nounwind {{", "entry:", *indented, "}"])

    def _return(self) -> list[str]:
        if not self._outputs:
            return ["ret void"]
        values = [self._load_output(number) for number in range(len(self._outputs))]
        made = [text for text, _ in values]
        if len(values) == 1:
            return [*made, f"ret {self.result_type} {values[0][1]}"]
        whole = "poison"
        for number, (_, value) in enumerate(values):
            made.append(
                f"%whole{number} = insertvalue {self.result_type} {whole}, "
                f"{self._outputs[number]} {value}, {number}"
            )
            whole = f"%whole{number}"
        return [*made, f"ret {self.result_type} {whole}"]

    def _load_output(self, number: int) -> tuple[str, str]:
        value = f"%out{number}"
        slot = self._slots[f"${number}"]
        return f"{value} = load {self._outputs[number]}, ptr {slot}", value

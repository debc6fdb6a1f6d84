"""The library's functions on vectors of 16-bit floating point, as LLVM IR.

C has no portable way to pass `<2 x half>` as LLVM IR does: its calling convention makes an integer
or a register's part of it. So C defines these functions on single elements, or on all the bits
(`..._packed`), and the text made here defines them as device code calls them:

    define <2 x half> @hirc_nvvm_fma_rn_f16x2(<2 x half> %0, <2 x half> %1, <2 x half> %2)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from ...dialects.records import dataclass


@dataclass(frozen=True)
class _Elementwise:
    """A function that calls another one for each element of its operands."""

    name: str
    element_function: str
    element: str
    lanes: int
    operands: int

    def text(self) -> str:
        vector = f"<{self.lanes} x {self.element}>"
        lines: list[str] = []
        result = "poison"
        for lane in range(self.lanes):
            for operand in range(self.operands):
                lines.append(f"%e{lane}.{operand} = extractelement {vector} %{operand}, i32 {lane}")
            elements = ", ".join(f"{self.element} %e{lane}.{n}" for n in range(self.operands))
            lines.append(f"%r{lane} = call {self.element} @{self.element_function}({elements})")
            lines.append(
                f"%v{lane} = insertelement {vector} {result}, {self.element} %r{lane}, i32 {lane}"
            )
            result = f"%v{lane}"
        parameters = ", ".join(f"{vector} %{n}" for n in range(self.operands))
        return _definition(vector, self.name, parameters, [*lines, f"ret {vector} {result}"])

    def callee(self) -> tuple[str, str]:
        types = ", ".join([self.element] * self.operands)
        return self.element_function, f"declare {self.element} @{self.element_function}({types})"


@dataclass(frozen=True)
class _OnBits:
    """A function that calls another one whose 32-bit vectors are integers."""

    name: str
    result: str
    operands: tuple[str, ...]

    def text(self) -> str:
        lines: list[str] = []
        passed: list[str] = []
        for number, operand in enumerate(self.operands):
            value = f"%{number}"
            if operand.startswith("<"):
                lines.append(f"%bits{number} = bitcast {operand} %{number} to i32")
                value = f"%bits{number}"
            passed.append(f"{_plain(operand)} {value}")
        call = f"call {_plain(self.result)} @{self.name}_packed({', '.join(passed)})"
        lines.append(f"%result = {call}")
        value = "%result"
        if self.result.startswith("<"):
            lines.append(f"%vector = bitcast i32 %result to {self.result}")
            value = "%vector"
        parameters = ", ".join(f"{operand} %{n}" for n, operand in enumerate(self.operands))
        return _definition(
            self.result, self.name, parameters, [*lines, f"ret {self.result} {value}"]
        )

    def callee(self) -> tuple[str, str]:
        types = ", ".join(_plain(operand) for operand in self.operands)
        name = f"{self.name}_packed"
        return name, f"declare {_plain(self.result)} @{name}({types})"


@cache
def packed_functions() -> str:
    """Returns a module of all of them, to be linked with the library's bitcode."""
    functions = [*_elementwise(), *_on_bits()]
    declarations = dict(function.callee() for function in functions)
    return "\n".join([*declarations.values(), *(function.text() for function in functions)])


def _definition(result: str, name: str, parameters: str, lines: list[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"define {result} @{name}({parameters}) alwaysinline nounwind {{\n{body}\n}}\n"


def _plain(type_: str) -> str:
    return "i32" if type_.startswith("<") else type_


def _elementwise() -> Iterator[_Elementwise]:
    for short, element in (("f16", "half"), ("bf16", "bfloat")):
        for flush, finish in product(("", "ftz_"), ("", "sat_", "relu_")):
            name = f"hirc_nvvm_fma_rn_{flush}{finish}{short}"
            yield _Elementwise(f"{name}x2", name, element, 2, 3)
        for extreme, flush, nan, sign in product(
            ("fmin_", "fmax_"), ("", "ftz_"), ("", "nan_"), ("", "xorsign_abs_")
        ):
            name = f"hirc_nvvm_{extreme}{flush}{nan}{sign}{short}"
            yield _Elementwise(f"{name}x2", name, element, 2, 2)
        for start in ("nvvm_ex2_approx_", "nvvm_ex2_approx_ftz_", "nvvm_fabs_", "tanh_"):
            yield _Elementwise(f"hirc_{start}v2{short}", f"hirc_{start}{short}", element, 2, 1)
        fma = f"hirc_nvvm_fma_rn_{short}"
        for lanes in (2, 4, 8, 16):
            yield _Elementwise(f"hirc_fma_v{lanes}{short}", fma, element, lanes, 3)
    yield _Elementwise("hirc_nvvm_fabs_ftz_v2f16", "hirc_nvvm_fabs_ftz_f16", "half", 2, 1)
    yield _Elementwise("hirc_nvvm_neg_bf16x2", "hirc_nvvm_neg_bf16", "bfloat", 2, 1)


def _on_bits() -> Iterator[_OnBits]:
    halves, bf16s = "<2 x half>", "<2 x bfloat>"
    for mode, relu, finite in product(("rn", "rz"), ("", "_relu"), ("", "_satfinite")):
        suffix = f"{mode}{relu}{finite}"
        yield _OnBits(f"hirc_nvvm_ff2f16x2_{suffix}", halves, ("float", "float"))
        yield _OnBits(f"hirc_nvvm_ff2bf16x2_{suffix}", bf16s, ("float", "float"))
    for relu in ("", "_relu"):
        for small in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"):
            yield _OnBits(f"hirc_nvvm_{small}x2_to_f16x2_rn{relu}", halves, ("i16",))
        for small in ("e4m3", "e5m2"):
            yield _OnBits(f"hirc_nvvm_f16x2_to_{small}x2_rn{relu}", "i16", (halves,))
    for mode, finite in product(("rz", "rp"), ("", "_satfinite")):
        yield _OnBits(f"hirc_nvvm_bf16x2_to_ue8m0x2_{mode}{finite}", "i16", (bf16s,))
    yield _OnBits("hirc_nvvm_ue8m0x2_to_bf16x2", bf16s, ("i16",))

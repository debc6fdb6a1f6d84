"""What the CPU device does for an LLVM intrinsic that is one thread's own affair.

Operations of several threads, and those that wait, are not here: they are stops.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

from ...dialects.records import dataclass
from .special_registers import AMD_REGISTERS, REGISTERS, Register


class Replacement(Enum):
    """What takes the place of a call of the intrinsic."""

    FUNCTION = "a call of a library function with the same operands"
    BLOCK_FUNCTION = "a call of a library function with `ptr block, i32 thread` before the operands"
    INTRINSIC = "a call of another LLVM intrinsic of the same type"
    REGISTER = "a special register's value"
    NOTHING = "nothing: the call has no result and no effect here"
    LOAD = "a load of the result's type; the second operand is the alignment"
    FENCE = "a fence instruction, whose ordering is `function`"
    YIELD = "a stop that lets other threads run"
    EXIT = "the end of the thread"
    UNSUPPORTED = "an error: `function` says why"


@dataclass(frozen=True)
class Intrinsic:
    """How a call is replaced.

    `function` is the name of a FUNCTION, BLOCK_FUNCTION or INTRINSIC, the ordering of a FENCE
    (`seq_cst`), and the reason why one is UNSUPPORTED. `register` is set for a REGISTER.
    """

    kind: Replacement
    function: str = ""
    register: Register | None = None


_MODE = r"r[nzmp]"
_VARIANT = r"(\.ftz)?(\.nan)?(\.xorsign\.abs)?"
_FINISH = r"(\.relu)?(\.satfinite)?"
_16 = r"(f16|bf16)(x2)?"

# Names after `llvm.nvvm.` of functions of the library, by what they do.
_FUNCTIONS = (
    rf"(add|fma)\.{_MODE}((\.ftz)?(\.sat)?\.f|\.d)",
    rf"(mul|div|rcp|sqrt)\.{_MODE}((\.ftz)?\.f|\.d)",
    rf"fma\.rn(\.ftz)?(\.sat|\.relu)?\.{_16}",
    rf"fm(in|ax)({_VARIANT}\.(f|{_16})|\.d)",
    r"(floor|ceil|trunc|round)((\.ftz)?\.f|\.d)",
    r"saturate((\.ftz)?\.f|\.d)",
    r"fabs(\.ftz)?\.(f32|f16|v2f16)|fabs\.(f64|bf16|v2bf16)",
    r"neg\.bf16(x2)?",
    r"move\.(float|double|i16|i32|i64|ptr)",
    rf"f2(i|ui|ll|ull)\.{_MODE}(\.ftz)?",
    rf"d2(i|ui|ll|ull)\.{_MODE}",
    rf"(i|ui|ll|ull)2[fd]\.{_MODE}",
    rf"d2f\.{_MODE}(\.ftz)?",
    r"b?f2h\.rn(\.ftz)?",
    rf"(f2f16|f2bf16|f2tf32|ff2f16x2|ff2bf16x2)\.r[nz]{_FINISH}",
    r"f2tf32\.rna(\.satfinite)?",
    r"ff\.to\.(e4m3|e5m2)x2\.rn(\.relu)?",
    r"ff\.to\.(e2m3|e3m2|e2m1)x2\.rn(\.relu)?\.satfinite",
    r"f16x2\.to\.(e4m3|e5m2)x2\.rn(\.relu)?",
    r"(e4m3|e5m2|e2m3|e3m2|e2m1)x2\.to\.f16x2\.rn(\.relu)?",
    r"(ff|bf16x2)\.to\.ue8m0x2\.r[zp](\.satfinite)?",
    r"ue8m0x2\.to\.bf16x2",
    r"d2i\.(hi|lo)|lohi\.i2d",
    r"prmt(\.(f4e|b4e|rc8|rc16|ecl|ecr))?",
    r"mulhi\.(s|us|i|ui|ll|ull)",
    r"mul24\.u?i",
    r"sad\.(s|us|i|ui|ll|ull)",
    r"idp[24]a\.[su]\.[su]",
    r"fns|bmsk\.(clamp|wrap)|[sz]ext\.(clamp|wrap)",
    r"flo\.[su]\.(i32|i64)|fsh[lr]\.clamp\.i32",
    r"ex2\.approx(\.ftz)?\.(f32|f16|bf16|v2f16|v2bf16)",
    r"(lg2|rsqrt)\.approx((\.ftz)?\.f|\.d)",
    r"rsqrt\.approx\.ftz\.d|rcp\.approx\.ftz\.[fd]",
    r"(sin|cos|sqrt|div)\.approx(\.ftz)?\.f",
    r"sqrt\.f|div\.full(\.ftz)?",
    r"atomic\.(add|and|or|xor|max|min|exch|cas|inc|dec)\.gen\.i\.(cta|sys)\.(i32|i64)",
    r"atomic\.add\.gen\.f\.(cta|sys)\.(f32|f64)",
    r"st\.bulk(\.shared\.cta)?",
    r"read\.ptx\.sreg\.(clock|clock64|globaltimer|globaltimer\.lo)",
)

_BLOCK_FUNCTIONS = (
    r"isspacep\.(global|local|shared|shared\.cluster)",
    r"mapa(\.shared\.cluster)?|getctarank(\.shared\.cluster)?",
    r"read\.ptx\.sreg\.(total|aggr)_smem_size",
    r"is_explicit_cluster",
)

# Names after `llvm.amdgcn.`.
_AMD_FUNCTIONS = (
    r"(rcp|rsq|sqrt|fract)\.f(32|64)",
    r"frexp\.mant\.f(32|64)",
    r"frexp\.exp\.i32\.f(32|64)",
    r"class\.f(32|64)",
    r"fmed3\.f32",
    r"trig\.preop\.f64",
)
_AMD_BLOCK_FUNCTIONS = (r"mbcnt\.(lo|hi)", r"implicitarg\.ptr", r"wavefrontsize")
# Waits for memory, and hints to the scheduler.
_AMD_NOTHING = (r"s\.(waitcnt|setprio|nop)", r"sched\..*", r"wave\.barrier", r"iglp\.opt")

# hirc's own: yields.py puts them in.
_OF_WAITING_LOOPS = ("observe", "event")

_NOTHING = (
    r"prefetchu?\..*",
    r"(applypriority|discard)\..*",
    r"griddepcontrol\..*",
    r"setmaxnreg\..*",
    r"pm\.event\.mask",
)

# The proxies of PTX are ways to the same memory, and the host has one.
_FENCES = {
    r"membar\.(cta|gl|sys)|fence\.sc\.cluster": "seq_cst",
    r"fence\.(proxy|acquire|release|mbarrier_init)\..*": "acq_rel",
}

_REASONS = {
    r"isspacep\.const": "constant memory is not told from global memory",
    r".*\.rs(\.relu)?(\.satfinite)?": "stochastic rounding needs compute capability 10.0",
    r"(tex|tld4|suld|sust|txq|suq|istypep|texsurf)\..*": "there are no textures and surfaces",
    r"(tcgen05|clusterlaunchcontrol)\..*": "it needs compute capability 10.0",
}

# LLVM's own intrinsics that the host would compute otherwise than the device: with two roundings,
# with NaN or signed zeros told apart differently, or by a slow call.
_OTHERS = {
    r"fma\.(?P<type>b?f16)": "hirc_nvvm_fma_rn_{type}",
    r"fma\.(?P<type>v(2|4|8|16)b?f16)": "hirc_fma_{type}",
    r"(?P<name>minnum|maxnum)\.(?P<type>.*)": "llvm.{name}.{type}",
    r"exp2\.(?P<type>f32|f16|bf16|v2f16|v2bf16)": "hirc_nvvm_ex2_approx_{type}",
    r"log2\.f32": "hirc_nvvm_lg2_approx_f",
    r"(?P<name>sin|cos)\.f32": "hirc_nvvm_{name}_approx_f",
    r"tanh\.(?P<type>f32|f16|bf16|v2f16|v2bf16)": "hirc_tanh_{type}",
}

_NUMBERS_FIRST = {"minnum": "minimumnum", "maxnum": "maximumnum"}
_SREG = "read.ptx.sreg."
_POINTER_SUFFIX = re.compile(r"(\.p\d*)+$")


@cache
def intrinsic(name: str) -> Intrinsic | None:
    """Returns what takes the place of a call of `name`, as IR spells it: `llvm.nvvm.fabs.f32`.

    None for an intrinsic that is no matter of this table: LLVM's own that the host does right, and
    operations of several threads.
    """
    if name.startswith("llvm.nvvm."):
        return _of_nvvm(name.removeprefix("llvm.nvvm."))
    if name.startswith("llvm.amdgcn."):
        return _of_amdgcn(name.removeprefix("llvm.amdgcn."))
    return _of_llvm(name.removeprefix("llvm."))


def _of_nvvm(name: str) -> Intrinsic | None:
    if (register := REGISTERS.get(name.removeprefix(_SREG))) and name.startswith(_SREG):
        return Intrinsic(Replacement.REGISTER, register=register)
    if name in ("nanosleep", "yield"):
        return Intrinsic(Replacement.YIELD)
    if name in _OF_WAITING_LOOPS:
        return Intrinsic(Replacement.BLOCK_FUNCTION, f"hirc_device_{name}")
    if name == "exit":
        return Intrinsic(Replacement.EXIT)
    if re.fullmatch(r"ld[ug]\.global\.[ifp]\..*", name):
        return Intrinsic(Replacement.LOAD)
    for pattern, ordering in _FENCES.items():
        if re.fullmatch(pattern, name):
            return Intrinsic(Replacement.FENCE, ordering)
    for pattern, reason in _REASONS.items():
        if re.fullmatch(pattern, name):
            return Intrinsic(Replacement.UNSUPPORTED, reason)
    if _matches(name, _NOTHING):
        return Intrinsic(Replacement.NOTHING)
    plain = _POINTER_SUFFIX.sub("", name)
    function = "hirc_nvvm_" + plain.replace(".", "_")
    if _matches(plain, _FUNCTIONS):
        return Intrinsic(Replacement.FUNCTION, function)
    if _matches(plain, _BLOCK_FUNCTIONS):
        return Intrinsic(Replacement.BLOCK_FUNCTION, function)
    return None


def _of_amdgcn(name: str) -> Intrinsic | None:
    if (register := AMD_REGISTERS.get(name)) is not None:
        return Intrinsic(Replacement.REGISTER, register=register)
    if name == "s.sleep":
        return Intrinsic(Replacement.YIELD)
    if name == "endpgm":
        return Intrinsic(Replacement.EXIT)
    if _matches(name, _AMD_NOTHING):
        return Intrinsic(Replacement.NOTHING)
    function = "hirc_amdgcn_" + name.replace(".", "_")
    if _matches(name, _AMD_FUNCTIONS):
        return Intrinsic(Replacement.FUNCTION, function)
    if _matches(name, _AMD_BLOCK_FUNCTIONS):
        return Intrinsic(Replacement.BLOCK_FUNCTION, function)
    return None


def _of_llvm(name: str) -> Intrinsic | None:
    for pattern, replacement in _OTHERS.items():
        if match := re.fullmatch(pattern, name):
            parts = match.groupdict()
            if (number := _NUMBERS_FIRST.get(parts.get("name", ""))) is not None:
                return Intrinsic(Replacement.INTRINSIC, f"llvm.{number}.{parts['type']}")
            return Intrinsic(Replacement.FUNCTION, replacement.format(**parts))
    return None


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)

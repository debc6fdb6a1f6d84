"""libdevice's functions: their types, their pointers' meaning, and which are exactly defined.

All of it is read from the bitcode, but for what a pointer points to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm

from hirc.compiler.bitcode_file import read_bitcode
from hirc.compiler.llvm_ir import Machine
from hirc.compiler.platform_table import CUDA
from hirc.compiler.toolchain import find_cuda

PREFIX = "__nv_"

# What a function with a pointer writes there, in order; the others' pointers are inputs.
_POINTER_RESULTS = {
    "frexp": ("i32",),
    "frexpf": ("i32",),
    "modf": ("double",),
    "modff": ("float",),
    "remquo": ("i32",),
    "remquof": ("i32",),
    "sincos": ("double", "double"),
    "sincospi": ("double", "double"),
    "sincosf": ("float", "float"),
    "sincospif": ("float", "float"),
    "fast_sincosf": ("float", "float"),
}

# What a function reads through its pointer: a vector of VECTOR_LENGTH elements at most, or the
# digits of a NaN's payload, eight characters at most with the zero at the end.
VECTOR_LENGTH = 5
_POINTER_INPUTS = {
    "norm": ("double",) * VECTOR_LENGTH,
    "rnorm": ("double",) * VECTOR_LENGTH,
    "normf": ("float",) * VECTOR_LENGTH,
    "rnormf": ("float",) * VECTOR_LENGTH,
    "nan": ("i64",),
    "nanf": ("i64",),
}

# What __nvvm_reflect answers in programs compiled without --ftz or --fast-math for sm_90.
_REFLECTED = {"__CUDA_FTZ": 0, "__CUDA_PREC_SQRT": 1, "__CUDA_ARCH": 900}


@dataclass(frozen=True)
class Function:
    """One function: LLVM's types of what it takes by value, reads through a pointer, and gives.

    `results` has the value it returns, if any, and then what it writes through its pointers.
    """

    name: str
    values: tuple[str, ...]
    pointed: tuple[str, ...]
    returned: str
    written: tuple[str, ...]

    @property
    def symbol(self) -> str:
        return PREFIX + self.name

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.values + self.pointed

    @property
    def results(self) -> tuple[str, ...]:
        return (() if self.returned == "void" else (self.returned,)) + self.written


@cache
def functions() -> tuple[Function, ...]:
    """Every function that libdevice exports, by name."""
    found: list[Function] = []
    for function in _library().functions:
        if not function.is_declaration and function.name.startswith(PREFIX):
            found.append(_function(function.name, str(function.global_value_type)))
    return tuple(sorted(found, key=lambda each: each.name))


@cache
def approximations() -> dict[str, frozenset[str]]:
    """The approximate operations that each function comes to, itself or through its calls.

    A function without any is exactly defined: its operations are IEEE's or on integers.
    """
    own: dict[str, set[str]] = {}
    calls: dict[str, set[str]] = {}
    for function in _library().functions:
        if not function.is_declaration:
            instructions = list(_calls(function))
            own[function.name] = {name for name in instructions if _is_approximate(name)}
            calls[function.name] = set(instructions)

    def reached(name: str, seen: set[str]) -> set[str]:
        if name in seen or name not in own:
            return set()
        seen.add(name)
        return own[name].union(*(reached(callee, seen) for callee in calls[name]))

    return {each.name: frozenset(reached(each.symbol, set())) for each in functions()}


def _is_approximate(operation: str) -> bool:
    """PTX's approximate instructions carry it in their names; tanh.f32 is tanh.approx."""
    return ".approx." in operation or operation == "llvm.tanh.f32"


def _calls(function: llvm.ValueRef) -> Iterator[str]:
    """What a function calls: functions' names, and inline assembly's text."""
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode == "call":
                assembly = re.search(r'\basm (?:\w+ )*"([^"]*)"', str(instruction))
                callee = list(instruction.operands)[-1].name
                yield assembly[1] if assembly else callee


def _function(symbol: str, kind: str) -> Function:
    match = re.fullmatch(r"(\w+) \((.*)\)", kind)
    assert match is not None, kind
    name = symbol.removeprefix(PREFIX)
    parameters = match[2].split(", ")
    values = tuple(each for each in parameters if each != "ptr")
    written = _POINTER_RESULTS.get(name, ())
    pointed = _POINTER_INPUTS.get(name, ())
    pointers = len(parameters) - len(values)
    assert pointers == (1 if pointed else len(written)), f"what do {symbol}'s pointers mean?"
    return Function(name, values, pointed, match[1], written)


@cache
def _library() -> llvm.ModuleRef:
    """libdevice as it is for sm_90, without the branches that __nvvm_reflect rules out."""
    path = find_cuda().libdevice
    assert path is not None
    target = Machine(CUDA.triple, "sm_90", "", 0).target_machine()
    text = str(llvm.parse_bitcode(read_bitcode(path)))
    for variable, name in re.findall(r'^@([\w.]+) = .* c"(__CUDA_\w+)\\00"', text, re.MULTILINE):
        call = rf"call i32 @__nvvm_reflect\(ptr @{re.escape(variable)}\)(?: #\d+)?"
        text = re.sub(call, f"add i32 {_REFLECTED[name]}, 0", text)
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=1))
    manager = llvm.create_new_module_pass_manager()
    manager.add_sccp_pass()
    manager.add_simplify_cfg_pass()
    manager.run(module, builder)
    return module

"""Programs that run every function of libdevice over rows of values on a GPU.

`programs()` gives MLIR programs, each with a kernel for every function of its share, which print
the bits of all results: a line a number, row by row within a result, result by result within a
function, in the order of `Program.groups`. A result narrower than 64 bits is printed as unsigned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from programs.libdevice_functions import Function, functions
from programs.libdevice_values import FORMATS, WIDTHS, Row, rows

_MLIR_TYPES = {"float": "f32", "double": "f64"}
_BLOCK = 256


@dataclass(frozen=True)
class Group:
    """Functions of one signature, and the rows of inputs that each is run on."""

    functions: tuple[Function, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        first = self.functions[0]
        return rows(first.inputs, len(first.pointed))

    @property
    def results(self) -> tuple[str, ...]:
        return self.functions[0].results

    @property
    def name(self) -> str:
        """The signature, as in `double_ptr_to_double_i32`."""
        first = self.functions[0]
        inputs = [*first.values, *(f"ptr_{kind}" for kind in first.pointed[:1])]
        return "_".join([*inputs, "to", *self.results])


@dataclass(frozen=True)
class Program:
    """A program in MLIR, and the groups of results that it prints, in order."""

    name: str
    mlir: str
    groups: tuple[Group, ...]

    @property
    def numbers(self) -> int:
        """How many numbers it prints."""
        return sum(
            len(group.functions) * len(group.results) * len(group.rows) for group in self.groups
        )


def programs() -> list[Program]:
    """All programs, the same on every call; every function is in one of them."""
    signatures: dict[tuple[object, ...], list[Function]] = {}
    for function in functions():
        key = (function.values, function.pointed, function.results)
        signatures.setdefault(key, []).append(function)
    groups = [Group(tuple(members)) for members in signatures.values()]
    made: list[Program] = []
    for name, belongs in _SHARES.items():
        share = tuple(group for group in groups if belongs(group))
        groups = [group for group in groups if group not in share]
        made.append(_program(f"libdevice_{name}", share))
    assert not groups
    return made


def _only(group: Group, kind: str) -> bool:
    return set(group.functions[0].inputs) == {kind} == set(group.results)


# Each takes what none before it did.
_SHARES: dict[str, Callable[[Group], bool]] = {
    "float": lambda group: _only(group, "float") and len(group.functions[0].inputs) == 1,
    "double": lambda group: _only(group, "double") and len(group.functions[0].inputs) == 1,
    "float_multiple": lambda group: (
        not {"double", "i64"}.intersection((*group.functions[0].inputs, *group.results))
        and "float" in (*group.functions[0].values, *group.functions[0].pointed)
    ),
    "double_multiple": lambda group: "double" in group.functions[0].inputs,
    "integer": lambda group: True,
}


def _program(name: str, groups: tuple[Group, ...]) -> Program:
    declarations = "".join(
        f"    llvm.func @{function.symbol}({_parameters(function)}) -> {_returned(function)}\n"
        for group in groups
        for function in group.functions
    )
    kernels = "".join(_kernel(group, function) for group in groups for function in group.functions)
    hosts = "".join(_host(number, group) for number, group in enumerate(groups))
    calls = "".join(f"    call @group{number}() : () -> ()\n" for number in range(len(groups)))
    mlir = f"""\
module attributes {{gpu.container_module}} {{
  func.func private @printU64(i64)
  func.func private @printNewline()

  gpu.module @kernels {{
{declarations}
{kernels}\
  }}

{hosts}
  func.func @main() {{
{calls}\
    return
  }}
}}
"""
    return Program(name, mlir, groups)


def _mlir_type(kind: str) -> str:
    return _MLIR_TYPES.get(kind, kind)


def _parameters(function: Function) -> str:
    values = [_mlir_type(kind) for kind in function.values]
    return ", ".join(values + ["!llvm.ptr"] * (len(function.written) or bool(function.pointed)))


def _returned(function: Function) -> str:
    return "!llvm.void" if function.returned == "void" else _mlir_type(function.returned)


def _buffers(group: Group) -> tuple[str, str]:
    """The types of the inputs, an input's rows one after another, and of a function's results."""
    count = len(group.rows)
    inputs = len(group.functions[0].inputs)
    return f"memref<{inputs}x{count}xi64>", f"memref<{len(group.results)}x{count}xi64>"


def _kernel(group: Group, function: Function) -> str:
    inputs, results = _buffers(group)
    body = "".join(f"        {line}\n" for line in _body(group, function))
    return f"""\
    gpu.func @{function.name}(%inputs: {inputs}, %results: {results}) kernel {{
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %start = arith.muli %block, %size : index
      %row = arith.addi %start, %thread : index
      %count = arith.constant {len(group.rows)} : index
      %inside = arith.cmpi ult, %row, %count : index
      scf.if %inside {{
{body}\
      }}
      gpu.return
    }}
"""


def _body(group: Group, function: Function) -> Iterator[str]:
    inputs, results = _buffers(group)
    yield "%one = llvm.mlir.constant(1 : i32) : i32"
    for place, kind in enumerate(function.inputs):
        yield f"%place{place} = arith.constant {place} : index"
        yield f"%word{place} = memref.load %inputs[%place{place}, %row] : {inputs}"
        yield from _from_word(f"%x{place}", f"%word{place}", kind)
    arguments = [f"%x{place}" for place in range(len(function.values))]
    yield from _pointed(function)
    arguments += ["%pointed"] if function.pointed else []
    for number, kind in enumerate(function.written):
        yield f"%slot{number} = llvm.alloca %one x {_mlir_type(kind)} : (i32) -> !llvm.ptr"
        arguments.append(f"%slot{number}")
    returns = function.returned != "void"
    yield (
        f"{'%y0 = ' if returns else ''}llvm.call @{function.symbol}({', '.join(arguments)}) : "
        f"({_parameters(function)}) -> {_returned(function) if returns else '()'}"
    )
    for number, kind in enumerate(function.written):
        loaded = f"llvm.load %slot{number} : !llvm.ptr -> {_mlir_type(kind)}"
        yield f"%y{number + returns} = {loaded}"
    for place, kind in enumerate(function.results):
        yield from _to_word(f"%result{place}", f"%y{place}", kind)
        yield f"%to{place} = arith.constant {place} : index"
        yield f"memref.store %result{place}, %results[%to{place}, %row] : {results}"


def _pointed(function: Function) -> Iterator[str]:
    """Puts what the function's pointer points to on the stack."""
    if not function.pointed:
        return
    kind, first = _mlir_type(function.pointed[0]), len(function.values)
    yield f"%length = llvm.mlir.constant({len(function.pointed)} : i32) : i32"
    yield f"%pointed = llvm.alloca %length x {kind} : (i32) -> !llvm.ptr"
    for number in range(len(function.pointed)):
        element = f"%element{number}"
        at = f"llvm.getelementptr %pointed[{number}] : (!llvm.ptr) -> !llvm.ptr, {kind}"
        yield f"{element} = {at}"
        yield f"llvm.store %x{first + number}, {element} : {kind}, !llvm.ptr"


def _from_word(result: str, word: str, kind: str) -> Iterator[str]:
    """An input of its type from 64 bits."""
    width = _width(kind)
    if kind in WIDTHS:
        narrow = "arith.trunci" if width < 64 else "llvm.bitcast"
        yield f"{result} = {narrow} {word} : i64 to {kind}"
        return
    bits = word
    if width < 64:
        bits = f"{word}_bits"
        yield f"{bits} = arith.trunci {word} : i64 to i{width}"
    yield f"{result} = arith.bitcast {bits} : i{width} to {_mlir_type(kind)}"


def _to_word(result: str, value: str, kind: str) -> Iterator[str]:
    """The 64 bits for a result of its type."""
    width = _width(kind)
    bits = value
    if kind in FORMATS:
        bits = f"{value}_bits"
        yield f"{bits} = arith.bitcast {value} : {_mlir_type(kind)} to i{width}"
    widen = "arith.extui" if width < 64 else "llvm.bitcast"
    yield f"{result} = {widen} {bits} : i{width} to i64"


def _width(kind: str) -> int:
    return WIDTHS[kind] if kind in WIDTHS else FORMATS[kind].width


def _host(number: int, group: Group) -> str:
    """A function that uploads the group's rows, launches its kernels, and prints their results."""
    inputs, results = _buffers(group)
    count = len(group.rows)
    lists = ", ".join(
        "[" + ", ".join(str(_signed(row[place])) for row in group.rows) + "]"
        for place in range(len(group.rows[0]))
    )
    runs = "".join(
        f"""\
    gpu.launch_func @kernels::@{function.name} blocks in (%blocks, %one, %one)
        threads in (%threads, %one, %one) args(%device : {inputs}, %device_results : {results})
    gpu.memcpy %results, %device_results : {results}, {results}
    call @group{number}_print(%results) : ({results}) -> ()
"""
        for function in group.functions
    )
    return f"""\
  memref.global "private" constant @group{number}_inputs : {inputs} = dense<[{lists}]>
  func.func private @group{number}_print(%results: {results}) {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %kinds = arith.constant {len(group.results)} : index
    %rows = arith.constant {count} : index
    scf.for %kind = %zero to %kinds step %one {{
      scf.for %row = %zero to %rows step %one {{
        %bits = memref.load %results[%kind, %row] : {results}
        func.call @printU64(%bits) : (i64) -> ()
        func.call @printNewline() : () -> ()
      }}
    }}
    return
  }}
  func.func private @group{number}() {{
    %one = arith.constant 1 : index
    %blocks = arith.constant {-(-count // _BLOCK)} : index
    %threads = arith.constant {_BLOCK} : index
    %host = memref.get_global @group{number}_inputs : {inputs}
    %device = gpu.alloc () : {inputs}
    gpu.memcpy %device, %host : {inputs}, {inputs}
    %results = memref.alloc() : {results}
    %device_results = gpu.alloc () : {results}
{runs}\
    gpu.dealloc %device_results : {results}
    gpu.dealloc %device : {inputs}
    memref.dealloc %results : {results}
    return
  }}
"""


def _signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits

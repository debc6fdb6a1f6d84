"""The MLIR text of a program that runs operations over rows of inputs on a GPU."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from programs.math_reference import Format

THREADS = 128

# The exact result for one row of inputs, as bits, and how many units in the last place off a
# result may be.
Expected = Callable[[Sequence[int]], tuple[int, int]]


@dataclass(frozen=True)
class Column:
    """One operation: how it is written on the inputs, and what its results must be.

    `text` defines %result, an integer of the first input's type, from the inputs %in0, %in1, ...
    `result` is the format its bits are in, or the width of an integer. `zero_signed` is False
    for an operation that may return either zero.
    """

    name: str
    text: str
    expected: Expected
    result: Format | int
    zero_signed: bool = True


@dataclass(frozen=True)
class Group:
    """Operations on the same rows of inputs; an input is an integer type and its bits."""

    input_types: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    columns: tuple[Column, ...]
    lanes: int = 1


@dataclass(frozen=True)
class MathProgram:
    """A program in MLIR and the groups of results that it prints, in order."""

    name: str
    mlir: str
    groups: tuple[Group, ...]


def program(name: str, groups: Sequence[Group]) -> MathProgram:
    """The program that runs each group in a kernel of its own and prints its results.

    They come one number a line, row by row within an operation.
    """
    parts = [_PRINTING, *(_group(number, group) for number, group in enumerate(groups))]
    calls = "".join(f"  call @group{number}() : () -> ()\n" for number in range(len(groups)))
    parts.append(f"func.func @main() {{\n{calls}  return\n}}\n")
    return MathProgram(name, "\n".join(parts), tuple(groups))


def shaped(element: str, lanes: int) -> str:
    """An element type, or a vector of it."""
    return element if lanes == 1 else f"vector<{lanes}x{element}>"


_PRINTING = """\
func.func private @printI64(i64)
func.func private @printNewline()
"""


def _group(number: int, group: Group) -> str:
    count = len(group.rows)
    results = f"memref<{len(group.columns)}x{count}xi64>"
    threads_needed = count // group.lanes
    blocks = -(-threads_needed // THREADS)
    inputs = "".join(_input_global(number, place, group) for place in range(len(group.input_types)))
    uploads = "".join(
        f"""\
  %host{place} = memref.get_global @group{number}_in{place} : {_buffer(group, place)}
  %device{place} = gpu.alloc () : {_buffer(group, place)}
  gpu.memcpy %device{place}, %host{place} : {_buffer(group, place)}, {_buffer(group, place)}
"""
        for place in range(len(group.input_types))
    )
    releases = "".join(
        f"  gpu.dealloc %device{place} : {_buffer(group, place)}\n"
        for place in range(len(group.input_types))
    )
    return f"""\
{inputs}
func.func @group{number}() {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %blocks = arith.constant {blocks} : index
  %threads = arith.constant {THREADS} : index
  %rows = arith.constant {count} : index
  %columns = arith.constant {len(group.columns)} : index
{uploads}\
  %results = memref.alloc() : {results}
  %device_results = gpu.alloc () : {results}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {{
    %start = arith.muli %bx, %sx : index
    %thread = arith.addi %start, %tx : index
    %used = arith.constant {threads_needed} : index
    %inside = arith.cmpi ult, %thread, %used : index
    scf.if %inside {{
      %lanes = arith.constant {group.lanes} : index
      %row = arith.muli %thread, %lanes : index
{_kernel_body(group, results)}\
    }}
    gpu.terminator
  }}
  gpu.memcpy %results, %device_results : {results}, {results}
{releases}\
  gpu.dealloc %device_results : {results}
  scf.for %column = %c0 to %columns step %c1 {{
    scf.for %row = %c0 to %rows step %c1 {{
      %bits = memref.load %results[%column, %row] : {results}
      func.call @printI64(%bits) : (i64) -> ()
      func.call @printNewline() : () -> ()
    }}
  }}
  memref.dealloc %results : {results}
  return
}}
"""


def _buffer(group: Group, place: int) -> str:
    return f"memref<{len(group.rows)}x{group.input_types[place]}>"


def _input_global(number: int, place: int, group: Group) -> str:
    width = int(group.input_types[place].removeprefix("i"))
    half = 1 << (width - 1)
    values = ", ".join(str((row[place] + half) % (2 * half) - half) for row in group.rows)
    return (
        f'memref.global "private" constant @group{number}_in{place} : '
        f"{_buffer(group, place)} = dense<[{values}]>\n"
    )


def _kernel_body(group: Group, results: str) -> str:
    lines: list[str] = []
    for place, element in enumerate(group.input_types):
        buffer = _buffer(group, place)
        if group.lanes == 1:
            lines.append(f"%in{place} = memref.load %device{place}[%row] : {buffer}")
        else:
            vector = shaped(element, group.lanes)
            lines.append(f"%in{place} = vector.load %device{place}[%row] : {buffer}, {vector}")
    for number, column in enumerate(group.columns):
        lines += _own_names(column.text, f"column{number}_").splitlines()
        lines += _store(group, f"column{number}_", number, results)
    return "".join(f"      {line}\n" for line in lines)


def _own_names(text: str, prefix: str) -> str:
    """Prefixes the values that a column's text defines, so that columns do not clash."""
    return re.sub(r"%(?!in\d)(\w+)", rf"%{prefix}\1", text)


def _store(group: Group, prefix: str, number: int, results: str) -> list[str]:
    element = group.input_types[0]
    wide, narrow = shaped("i64", group.lanes), shaped(element, group.lanes)
    lines = [f"%{prefix}place = arith.constant {number} : index"]
    value = f"%{prefix}result"
    if element != "i64":
        lines.append(f"%{prefix}wide = arith.extui {value} : {narrow} to {wide}")
        value = f"%{prefix}wide"
    target = f"%device_results[%{prefix}place, %row] : {results}"
    if group.lanes == 1:
        lines.append(f"memref.store {value}, {target}")
    else:
        lines.append(f"vector.store {value}, {target}, {wide}")
    return lines

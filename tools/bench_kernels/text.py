"""Fills in the sizes and element types of a program's text.

What a text may say besides MLIR, for a program of `f32` with sizes R = 64 and C = 96:

    $name, $T, $O, $A        the program's name, and the element types of its inputs, of what a
                             matrix product gives, and of what it adds in
    $C, $lowest              a size of a static program; minus infinity in T
    tensor[R C f32]          tensor<64x96xf32>; tensor<?x?xf32> in a dynamic program
    empty[R C f32]           tensor.empty() : tensor<64x96xf32>; tensor.empty(%R, %C) : ...
    shape[R 1]               [64, 1]; [%R, 1]
    %w = widen %x : [R C]    %x in f32, where T has 16 bits; another name of %x where it has more
    %y = narrow %v : [R C]   the other way
    // dynamic, // static    at the end of a line: it is of such programs alone
"""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from .row import DYNAMIC, Row

PROGRAMS = Path(__file__).resolve().parent.parent / "bench_kernels_programs"

_NARROW = ("f16", "bf16")
_LOWEST = {"f64": "0xFFF0000000000000", "f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}
_ONLY = re.compile(r" // (static|dynamic)$")
_CONVERSION = re.compile(r"  (%\w+) = (widen|narrow) (%[\w#]+) : \[([\w ]*)\]")
_SHAPED = re.compile(r"\b(tensor|empty|shape)\[([\w ]*)\]")


def program_text(row: Row, build: str) -> str:
    """Returns the program of a row, static or dynamic."""
    text = (PROGRAMS / f"{row.operation}.mlir").read_text()
    is_dynamic = build == DYNAMIC
    lines = [_ONLY.sub("", line) for line in text.splitlines() if _is_of(line, build)]
    text = _without_conversions("\n".join(lines), row.element)
    accumulator = "f64" if row.element == "f64" else "f32"
    text = Template(text).substitute(
        {size: str(value) for size, value in row.sizes.items() if size != "A"},
        name=row.program(build),
        T=row.element,
        O="f32" if row.element == "tf32" else row.element,
        A=accumulator,
        lowest=_LOWEST.get(row.element, ""),
    )

    sizes = None if is_dynamic else {**row.sizes, **row.derived}

    def shaped(match: re.Match[str]) -> str:
        return _shaped(match[1], match[2].split(), sizes)

    return _SHAPED.sub(shaped, text) + "\n"


def _is_of(line: str, build: str) -> bool:
    only = _ONLY.search(line)
    return only is None or only[1] == build


def _without_conversions(text: str, element: str) -> str:
    """Returns the text with its conversions written out; left out where there is nothing to
    convert.
    """
    for match in list(_CONVERSION.finditer(text)):
        whole, result, kind, value, sizes = match[0], match[1], match[2], match[3], match[4]
        if element in _NARROW:
            text = text.replace(whole, _conversion(result, kind, value, sizes, element))
        else:
            text = text.replace(whole + "\n", "")
            text = re.sub(rf"{result}\b", value, text)
    return text


def _conversion(result: str, kind: str, value: str, sizes: str, element: str) -> str:
    before, after = (element, "f32") if kind == "widen" else ("f32", element)
    op = "extf" if kind == "widen" else "truncf"
    loops = ", ".join(f"d{place}" for place in range(len(sizes.split())))
    axes = ", ".join('"parallel"' for _ in sizes.split())
    same = f"affine_map<({loops}) -> ({loops})>"
    return f"""\
  {result}_empty = empty[{sizes} {after}]
  {result} = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{axes}]}}
      ins({value} : tensor[{sizes} {before}]) outs({result}_empty : tensor[{sizes} {after}]) {{
  ^bb0(%a: {before}, %out: {after}):
    %0 = arith.{op} %a : {before} to {after}
    linalg.yield %0 : {after}
  }} -> tensor[{sizes} {after}]"""


def _shaped(kind: str, words: list[str], static: dict[str, int] | None) -> str:
    """`tensor[...]`, `empty[...]` or `shape[...]`; `static` are the sizes of a static program."""

    def spelled(word: str, open_size: str) -> str:
        return word if word.isdigit() else open_size if static is None else str(static[word])

    if kind == "shape":
        return f"[{', '.join(spelled(word, f'%{word}') for word in words)}]"
    dims = [spelled(word, "?") for word in words[:-1]]
    tensor = f"tensor<{'x'.join([*dims, words[-1]])}>"
    if kind == "tensor":
        return tensor
    named = [f"%{word}" for word in words[:-1] if static is None and not word.isdigit()]
    return f"tensor.empty({', '.join(named)}) : {tensor}"

"""Pointwise work on the CPU device against torch: layouts, broadcasts, element types, gathers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes, Written

# Nothing, one, primes, whole blocks of vectors, and just past one.
_LINES: tuple[Sizes, ...] = tuple({"n": n} for n in (0, 1, 7, 127, 1024, 1025, 2048, 4099))
_ROWS: tuple[Sizes, ...] = (
    {"r": 0, "c": 3},
    {"r": 1, "c": 1},
    {"r": 37, "c": 1},
    {"r": 3, "c": 101},
    {"r": 16, "c": 64},
    {"r": 33, "c": 72},
    {"r": 500, "c": 3},
)


def _binary(name: str, element: str, operation: str, reference: Callable[..., Any]) -> Fused:
    return Fused(
        name,
        (f"{element}[n]", f"{element}[n]"),
        (f"{element}[n]",),
        reference,
        _LINES,
        loops="n",
        body=f"%s = arith.{operation} %x0, %x1 : {element}\nlinalg.yield %s : {element}",
        special=element[0] in "fb" and element != "f8E5M2",
        fixed=({"n": 1024}, {"n": 1027}),
    )


def _add(x: Any, y: Any) -> Any:
    return x + y


SUITE = Suite(
    [
        _binary("add_f32", "f32", "addf", _add),
        _binary("add_f64", "f64", "addf", _add),
        _binary("add_bf16", "bf16", "addf", _add),
        _binary("add_f16", "f16", "addf", _add),
        _binary("add_i8", "i8", "addi", _add),
        _binary("xor_i1", "i1", "xori", torch.logical_xor),
        _binary("add_i64", "i64", "addi", _add),
        Fused(
            "narrowed",
            ("f32[r, c]", "f8E5M2[r, c]", "f64[r, c]", "i1[r, c]"),
            ("bf16[r, c]", "f8E4M3FN[r, c]", "i1[r, c]"),
            lambda x, y, z, m: (
                torch.where(m, x, z),
                y.to(torch.float32).to(torch.float8_e4m3fn).double(),
                (x < z),
            ),
            _ROWS,
            loops="r, c",
            body="""
              %z = arith.truncf %x2 : f64 to f32
              %s = arith.select %x3, %x0, %z : f32
              %b = arith.truncf %s : f32 to bf16
              %y = arith.extf %x1 : f8E5M2 to f32
              %f = arith.truncf %y : f32 to f8E4M3FN
              %w = arith.extf %x0 : f32 to f64
              %l = arith.cmpf olt, %w, %x2 : f64
              linalg.yield %b, %f, %l : bf16, f8E4M3FN, i1""",
        ),
        Fused(
            "biases",
            ("f32[r, c]", "f32[c]", "f32[r]", "f32[]", "f32"),
            ("f32[r, c]",),
            lambda x, b, d, e, f: x * f + b + d[:, None] + e,
            _ROWS,
            magnitude=3.0,
            loops="r, c",
            body="""
              %0 = arith.mulf %x0, %x4 : f32
              %1 = arith.addf %0, %x1 : f32
              %2 = arith.addf %1, %x2 : f32
              %3 = arith.addf %2, %x3 : f32
              linalg.yield %3 : f32""",
            fixed=({"r": 5, "c": 12}, {"r": 5, "c": 13}, {"r": 1, "c": 65}, {"r": 70, "c": 1}),
        ),
        Fused(
            "bias_bf16",
            ("bf16[a, b, c]", "f32[b, c]", "bf16[a, c]", "bf16[c]"),
            ("bf16[a, b, c]",),
            lambda x, p, q, s: x + p + q[:, None] + s,
            (
                {"a": 3, "b": 5, "c": 16},
                {"a": 3, "b": 5, "c": 7},
                {"a": 2, "b": 70, "c": 3},
                {"a": 1, "b": 1, "c": 2},
            ),
            magnitude=3.0,
            loops="a, b, c",
            body="""
              %x = arith.extf %x0 : bf16 to f32
              %q = arith.extf %x2 : bf16 to f32
              %s = arith.extf %x3 : bf16 to f32
              %0 = arith.addf %x, %x1 : f32
              %1 = arith.addf %0, %q : f32
              %2 = arith.addf %1, %s : f32
              %3 = arith.truncf %2 : f32 to bf16
              linalg.yield %3 : bf16""",
            fixed=({"a": 2, "b": 3, "c": 24}, {"a": 2, "b": 9, "c": 5}),
        ),
        Fused(
            "many_dims",
            ("f32[a, b, c, d, e, f]", "f32[f, d, b]", "f32[a, 2 * c + d, f]"),
            ("f32[a, b, c, d, e, f]",),
            lambda x, y, z: (
                x
                + y.permute(2, 1, 0)[None, :, None, :, None, :]
                + z[:, [[2 * c + d for d in range(x.shape[3])] for c in range(x.shape[2])]][
                    :, None, :, :, None, :
                ]
            ),
            (
                {"a": 2, "b": 3, "c": 2, "d": 3, "e": 2, "f": 5},
                {"a": 2, "b": 3, "c": 2, "d": 2, "e": 3, "f": 8},
            ),
            magnitude=2.0,
            loops="a, b, c, d, e, f",
            body="""
              %0 = arith.addf %x0, %x1 : f32
              %1 = arith.addf %0, %x2 : f32
              linalg.yield %1 : f32""",
        ),
        Fused(
            "slices",
            ("f32[r, c + 3]", "f32[2 * r, c]", "f32[r, 3 * c]"),
            ("f32[r, c]",),
            lambda x, y, z: x[:, 3:] + y[::2] + z[:, ::3],
            _ROWS[1:],
            magnitude=2.0,
            loops="r, c",
            body="""
              %0 = arith.addf %x0, %x1 : f32
              %1 = arith.addf %0, %x2 : f32
              linalg.yield %1 : f32""",
            fixed=({"r": 4, "c": 64},),
        ),
        Fused(
            "indices",
            ("f32[r, c]",),
            ("f32[r, c]", "i64[r, c]"),
            lambda x: (
                torch.where(torch.arange(x.shape[1]) <= torch.arange(x.shape[0])[:, None], x, 0.0),
                torch.arange(x.shape[0])[:, None] * 1000 + torch.arange(x.shape[1]),
            ),
            _ROWS,
            loops="r, c",
            body="""
              %r = linalg.index 0 : index
              %c = linalg.index 1 : index
              %zero = arith.constant 0.0 : f32
              %thousand = arith.constant 1000 : index
              %m = arith.cmpi ule, %c, %r : index
              %v = arith.select %m, %x0, %zero : f32
              %0 = arith.muli %r, %thousand : index
              %1 = arith.addi %0, %c : index
              %2 = arith.index_cast %1 : index to i64
              linalg.yield %v, %2 : f32, i64""",
            fixed=({"r": 8, "c": 32},),
        ),
        Fused(
            "conditions",
            ("f32[r, c]",),
            ("f32[r, c]",),
            lambda x: torch.where(
                torch.arange(x.shape[1]) % 2 == 0, x + torch.arange(x.shape[0])[:, None], x
            ),
            _ROWS,
            loops="r, c",
            body="""
              %c = linalg.index 1 : index
              %one = arith.constant 1 : index
              %zero = arith.constant 0 : index
              %odd = arith.andi %c, %one : index
              %is_even = arith.cmpi eq, %odd, %zero : index
              %r = linalg.index 0 : index
              %v = scf.if %is_even -> f32 {
                %i = arith.index_cast %r : index to i32
                %f = arith.sitofp %i : i32 to f32
                %s = arith.addf %x0, %f : f32
                scf.yield %s : f32
              } else {
                scf.yield %x0 : f32
              }
              linalg.yield %v : f32""",
        ),
        Fused(
            "across_outputs",
            ("f32[r, c]",),
            ("f32[r, c]", "f32[c, r]"),
            lambda x: (x + 1, x.t() * 2),
            _ROWS,
            loops="r, c",
            body="""
              %one = arith.constant 1.0 : f32
              %0 = arith.addf %x0, %one : f32
              %1 = arith.addf %x0, %x0 : f32
              linalg.yield %0, %1 : f32, f32""",
        ),
        Fused(
            "fill",
            (),
            ("f32[r, c]",),
            lambda: torch.full((33, 72), 2.5),
            ({"r": 33, "c": 72},),
            loops="r, c",
            body="%v = arith.constant 2.5 : f32\nlinalg.yield %v : f32",
        ),
    ]
)


def _embedding(element: str, static: tuple[int, int, int] | None) -> str:
    n, v, c = map(str, static) if static else "???"
    return f"""
      func.func @NAME(%tokens: tensor<{n}xi64>, %table: tensor<{v}x{c}x{element}>)
          -> tensor<{n}x{c}x{element}> {{
        %zero = arith.constant 0 : i64
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        {"" if static else f"%n = tensor.dim %tokens, %c0 : tensor<{n}xi64>"}
        {"" if static else f"%c = tensor.dim %table, %c1 : tensor<{v}x{c}x{element}>"}
        %v = tensor.dim %table, %c0 : tensor<{v}x{c}x{element}>
        %empty = tensor.empty({"" if static else "%n, %c"}) : tensor<{n}x{c}x{element}>
        %result = linalg.generic {{
            indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]}}
            ins(%tokens : tensor<{n}xi64>) outs(%empty : tensor<{n}x{c}x{element}>) {{
        ^bb0(%t: i64, %out: {element}):
          %row = arith.index_cast %t : i64 to index
          %column = linalg.index 1 : index
          %below = arith.cmpi slt, %row, %v : index
          cf.assert %below, "index must be smaller than dim size"
          %above = arith.cmpi sge, %t, %zero : i64
          cf.assert %above, "index must be larger or equal to 0"
          %value = tensor.extract %table[%row, %column] : tensor<{v}x{c}x{element}>
          linalg.yield %value : {element}
        }} -> tensor<{n}x{c}x{element}>
        return %result : tensor<{n}x{c}x{element}>
      }}"""


def _gather(name: str, element: str, sizes: tuple[Sizes, ...], *, is_static: bool) -> Written:
    static = (sizes[0]["n"], sizes[0]["v"], sizes[0]["c"]) if is_static else None
    return Written(
        name,
        ("i64[n]", f"{element}[v, c]"),
        (f"{element}[n, c]",),
        lambda tokens, table: table[tokens.long()],
        sizes,
        ranges={0: "v"},
        source=_embedding(element, static),
    )


_TABLES: tuple[Sizes, ...] = (
    {"n": 0, "v": 4, "c": 8},
    {"n": 7, "v": 5, "c": 1},
    {"n": 31, "v": 17, "c": 13},
    {"n": 33, "v": 300, "c": 96},
    {"n": 1, "v": 2, "c": 24},
)
GATHERS = Suite(
    [
        _gather("embedding_f32", "f32", _TABLES, is_static=False),
        _gather("embedding_bf16", "bf16", _TABLES, is_static=False),
        _gather("embedding_static", "f32", ({"n": 33, "v": 30, "c": 96},), is_static=True),
        _gather("embedding_odd", "bf16", ({"n": 33, "v": 30, "c": 97},), is_static=True),
    ]
)


def _scatter(element: str, kind: str, sizes: tuple[str, str, str]) -> str:
    """Updates of n rows by c columns, to rows of v."""
    n, v, c = sizes
    return f"""
      func.func @NAME(%x: tensor<{v}x{c}x{element}>, %places: tensor<{n}x1xi64>,
          %updates: tensor<{n}x{c}x{element}>) -> tensor<{v}x{c}x{element}> {{
        %values = linalg.generic {{
            indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]}}
            ins(%updates : tensor<{n}x{c}x{element}>) outs(%updates : tensor<{n}x{c}x{element}>) {{
        ^bb0(%u: {element}, %there: {element}):
          %r = {"arith.addf %u, %u" if kind else "arith.constant 2.5"} : {element}
          linalg.yield %r : {element}
        }} -> tensor<{n}x{c}x{element}>
        %y = tm_tensor.scatter {{dimension_map = array<i64: 0>}} unique_indices(false)
            ins(%values, %places : tensor<{n}x{c}x{element}>, tensor<{n}x1xi64>)
            outs(%x : tensor<{v}x{c}x{element}>) {{
        ^bb0(%u: {element}, %there: {element}):
          {f"%r = arith.addf %there, %u : {element}" if kind else ""}
          tm_tensor.yield {"%r" if kind else "%u"} : {element}
        }} -> tensor<{v}x{c}x{element}>
        return %y : tensor<{v}x{c}x{element}>
      }}"""


_ELEMENTS = """
      func.func @NAME(%x: tensor<?x?xf32>, %places: tensor<?x2xi64>, %updates: tensor<?xf32>)
          -> tensor<?x?xf32> {
        %y = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false)
            ins(%updates, %places : tensor<?xf32>, tensor<?x2xi64>) outs(%x : tensor<?x?xf32>) {
        ^bb0(%u: f32, %there: f32):
          %r = arith.addf %there, %u : f32
          tm_tensor.yield %r : f32
        } -> tensor<?x?xf32>
        return %y : tensor<?x?xf32>
      }"""


def _scattered(
    name: str, element: str, sizes: tuple[Sizes, ...], kind: str, *, is_static: bool = False
) -> Written:
    known = [str(sizes[0][each]) if is_static else "?" for each in "nvc"]
    return Written(
        name,
        (f"{element}[v, c]", "i64[n, 1]", f"{element}[n, c]"),
        (f"{element}[v, c]",),
        _rows_added if kind else _rows_replaced,
        sizes,
        ranges={1: "v"},
        # Sums of 16 bits are rounded after each addition: by up to 1/16 in all.
        magnitude=16e3 if is_static and kind and element != "f32" else 0.0,
        source=_scatter(element, kind, (known[0], known[1], known[2])),
    )


def _rows_added(x: Any, places: Any, updates: Any) -> Any:
    return x.index_add(0, places[:, 0].long(), updates * 2)


def _rows_replaced(x: Any, places: Any, updates: Any) -> Any:
    del updates
    return x.index_fill(0, places[:, 0].long(), 2.5)


def _elements_added(x: Any, places: Any, updates: Any) -> Any:
    rows, columns = places.long().unbind(1)
    return x.index_put((rows, columns), updates, accumulate=True)


# Rows of whole vectors, of others, and of none.
_UPDATES: tuple[Sizes, ...] = (
    {"n": 33, "v": 9, "c": 96},
    {"n": 31, "v": 17, "c": 13},
    {"n": 7, "v": 5, "c": 1},
    {"n": 0, "v": 4, "c": 8},
)
_FEW_UPDATES: tuple[Sizes, ...] = (
    {"n": 33, "v": 65, "c": 96},
    {"n": 31, "v": 64, "c": 13},
    {"n": 65, "v": 67, "c": 1},
)
SCATTERS = Suite(
    [
        _scattered("rows_added", "f32", _UPDATES, "addf"),
        _scattered("rows_added_static", "f32", _UPDATES[:1], "addf", is_static=True),
        _scattered("rows_added_f64", "f64", _UPDATES[:2], "addf"),
        # Of which one is added together with its neighbour, but at the ends of rows.
        _scattered("halves_added", "bf16", _FEW_UPDATES[:1], "addf", is_static=True),
        _scattered("halves_in_odd_rows", "f16", _FEW_UPDATES[1:2], "addf", is_static=True),
        _scattered("halves_in_a_column", "bf16", _FEW_UPDATES[2:], "addf", is_static=True),
        _scattered("rows_replaced", "bf16", _UPDATES, ""),
        _scattered("replaced_static", "f16", _UPDATES[:1], "", is_static=True),
        Written(
            "elements_added",
            ("f32[v, v]", "i64[n, 2]", "f32[n]"),
            ("f32[v, v]",),
            _elements_added,
            ({"n": 65, "v": 9}, {"n": 0, "v": 3}),
            ranges={1: "v"},
            source=_ELEMENTS,
        ),
    ]
)

PIECES = Suite(
    [
        Written(
            "padded",
            ("f32[r, c]",),
            ("f32[r, c + 5]",),
            lambda x: torch.nn.functional.pad(x, (2, 3), value=1.5),
            ({"r": 3, "c": 7}, {"r": 5, "c": 64}, {"r": 0, "c": 3}),
            source="""
              func.func @NAME(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
                %v = arith.constant 1.5 : f32
                %y = tensor.pad %x low[0, 2] high[0, 3] {
                ^bb0(%i: index, %j: index):
                  tensor.yield %v : f32
                } : tensor<?x?xf32> to tensor<?x?xf32>
                return %y : tensor<?x?xf32>
              }""",
        ),
        Written(
            "joined",
            ("bf16[r, c]", "bf16[r, d]"),
            ("bf16[r, c + d + 1]",),
            lambda x, y: torch.cat([x, y], 1),
            ({"r": 3, "c": 8, "d": 16}, {"r": 3, "c": 5, "d": 16}, {"r": 9, "c": 64, "d": 1}),
            source="""
              func.func @NAME(%x: tensor<?x?xbf16>, %y: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
                %z = tensor.concat dim(1) %x, %y
                    : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xbf16>
                return %z : tensor<?x?xbf16>
              }""",
        ),
    ]
)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


@pytest.mark.parametrize("name", GATHERS.names)
def test_gathers(name: str) -> None:
    GATHERS.check(name)


@pytest.mark.parametrize("name", SCATTERS.names)
def test_scatters(name: str) -> None:
    SCATTERS.check(name)


@pytest.mark.parametrize("name", PIECES.names)
def test_pieces(name: str) -> None:
    PIECES.check(name)


@pytest.mark.parametrize(
    "suite",
    [SUITE, GATHERS, SCATTERS, PIECES],
    ids=["numbers", "gathers", "scatters", "pieces"],
)
def test_checks_are_silent(suite: Suite) -> None:
    suite.check_silence()

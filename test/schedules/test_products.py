"""Matrix products by kernels of our own on the CPU device, against torch in float64.

Sizes fit no tile; operands lie in every order, and what follows is computed with the product.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch
from host_ir.libraries import library
from schedules.harness import Suite
from schedules.programs import Written, f8_on_gpu

_SIZES = {"m": 133, "n": 136, "k": 248}


def _product(
    name: str,
    loops: str,
    first: str,
    second: str,
    result: str,
    sizes: dict[str, int],
    element: str = "bf16",
    attributes: str = "",
) -> Written:
    """A product whose operands have the loops of those letters for dims.

    It begins with a bias of the last loop; tanh of it is halved and added to a tensor.
    """
    last = result[-1]

    def kind(dims: str, of: str) -> str:
        return f"tensor<{''.join(f'{sizes[loop]}x' for loop in dims)}{of}>"

    def map_(dims: str, among: str) -> str:
        return f"affine_map<({', '.join(among)}) -> ({', '.join(dims)})>"

    def extended(name: str, value: str) -> str:
        # Of f32, the sum with -0 stands for it.
        wide = f"arith.extf %{value} : {element} to f32"
        return f"%{name} = " + (wide if element != "f32" else f"arith.addf %{value}, %none : f32")

    rounded = f"%v = arith.truncf %s : f32 to {element}"
    if element == "f32":
        rounded = "%v = arith.addf %s, %none : f32"
    iterators = ", ".join('"parallel"' if loop in result else '"reduction"' for loop in loops)
    a, b, y = kind(first, element), kind(second, element), kind(result, element)
    total, bias = kind(result, "f32"), kind(last, "f32")
    maps = ", ".join(map_(each, loops) for each in (first, second, result))
    same = map_(result, result)
    others = ", ".join(str(place) for place in range(len(result) - 1))
    source = f"""
      func.func @NAME(%a: {a}, %b: {b}, %bias: {bias}, %r: {y}) -> {y} {{
        %none = arith.constant -0.0 : f32
        %half = arith.constant 0.5 : f32
        %empty = tensor.empty() : {total}
        %start = linalg.broadcast ins(%bias : {bias}) outs(%empty : {total}) dimensions = [{others}]
        %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
            ins(%a, %b : {a}, {b}) outs(%start : {total}) attrs = {{{attributes}}} {{
        ^bb0(%x: {element}, %w: {element}, %o: f32):
          {extended("x32", "x")}
          {extended("w32", "w")}
          %m = arith.mulf %x32, %w32 : f32
          %s = arith.addf %o, %m : f32
          linalg.yield %s : f32
        }} -> {total}
        %out = tensor.empty() : {y}
        %y = linalg.generic {{indexing_maps = [{same}, {same}, {same}],
                              iterator_types = [{", ".join(['"parallel"'] * len(result))}]}}
            ins(%p, %r : {total}, {y}) outs(%out : {y}) {{
        ^bb0(%t: f32, %one: {element}, %o: {element}):
          %h = math.tanh %t : f32
          %q = arith.mulf %h, %half : f32
          {extended("e", "one")}
          %s = arith.addf %q, %e : f32
          {rounded}
          linalg.yield %v : {element}
        }} -> {y}
        return %y : {y}
      }}"""

    def reference(*given: torch.Tensor) -> torch.Tensor:
        a, b, bias, r = given
        return torch.einsum(f"{first},{second}->{result}", a, b).add(bias).tanh() / 2 + r

    return Written(
        name,
        tuple(
            f"{of}[{', '.join(str(sizes[loop]) for loop in dims)}]"
            for dims, of in ((first, element), (second, element), (last, "f32"), (result, element))
        ),
        (f"{element}[{', '.join(str(sizes[loop]) for loop in result)}]",),
        reference,
        ({"one": 1},),
        magnitude=20.0,
        source=source,
    )


def _asks(fields: str) -> str:
    return f'hir.configuration = {{family = "contraction", {fields}}}'


def _few(fields: str) -> str:
    return f'hir.configuration = {{family = "few_rows", {fields}}}'


_PARTS = _asks("rows = 64, columns = 64, stages = 4, consumers = 1, parts = 8")
_HEADS = {"b": 2, "h": 3, "s": 72, "t": 80, "d": 136}
# So many rows as the run says: few, and many.
_OPEN = """
      func.func @NAME(%x: tensor<?x136xf32>, %w: tensor<70x136xf32>) -> tensor<?x70xf32> {
        %zero = arith.constant 0.0 : f32
        %c0 = arith.constant 0 : index
        %m = tensor.dim %x, %c0 : tensor<?x136xf32>
        %empty = tensor.empty(%m) : tensor<?x70xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x70xf32>) -> tensor<?x70xf32>
        %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                            affine_map<(m, n, k) -> (n, k)>,
                                            affine_map<(m, n, k) -> (m, n)>]
            ins(%x, %w : tensor<?x136xf32>, tensor<70x136xf32>)
            outs(%start : tensor<?x70xf32>) -> tensor<?x70xf32>
        return %y : tensor<?x70xf32>
      }"""
# Two matrices and the same rows, in one kernel.
_TWO = """
      func.func @NAME(%x: tensor<5x136xf32>, %w: tensor<70x136xf32>, %v: tensor<70x136xf32>)
          -> (tensor<5x70xf32>, tensor<5x70xf32>) {
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<5x70xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x70xf32>) -> tensor<5x70xf32>
        %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                            affine_map<(m, n, k) -> (n, k)>,
                                            affine_map<(m, n, k) -> (m, n)>]
            ins(%x, %w : tensor<5x136xf32>, tensor<70x136xf32>)
            outs(%start : tensor<5x70xf32>) -> tensor<5x70xf32>
        %z = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                            affine_map<(m, n, k) -> (n, k)>,
                                            affine_map<(m, n, k) -> (m, n)>]
            ins(%x, %v : tensor<5x136xf32>, tensor<70x136xf32>)
            outs(%start : tensor<5x70xf32>) -> tensor<5x70xf32>
        return %y, %z : tensor<5x70xf32>, tensor<5x70xf32>
      }"""
SUITE = Suite(
    [
        Written(
            "few_of_two",
            ("f32[5, 136]", "f32[70, 136]", "f32[70, 136]"),
            ("f32[5, 70]", "f32[5, 70]"),
            lambda x, w, v: (x @ w.T, x @ v.T),
            ({"one": 1},),
            magnitude=20.0,
            source=_TWO,
        ),
        Written(
            "few_open",
            ("f32[m, 136]", "f32[70, 136]"),
            ("f32[m, 70]",),
            lambda x, w: x @ w.T,
            ({"m": 1}, {"m": 3}, {"m": 8}, {"m": 9}, {"m": 0}),
            magnitude=20.0,
            source=_OPEN,
        ),
        _product("plain", "mnk", "mk", "kn", "mn", _SIZES),
        _product("columns_by_terms", "mnk", "mk", "nk", "mn", {**_SIZES, "n": 131}),
        _product("turned", "mnk", "km", "kn", "mn", {**_SIZES, "m": 136}, "f16"),
        # Heads lie side by side in rows.
        _product("heads", "bhstd", "bshd", "bthd", "bhst", _HEADS),
        # Terms that lie apart, and rows that do.
        _product("two_sums", "mnjk", "jmk", "jnk", "mn", {"m": 72, "n": 136, "j": 5, "k": 96}),
        _product("two_rows", "imnk", "imk", "kn", "mni", {"i": 3, "m": 72, "n": 136, "k": 160}),
        # Sums in parts, which the blocks of a cluster add.
        _product(
            "few_rows", "mnk", "mk", "nk", "mn", {"m": 8, "n": 264, "k": 2056}, attributes=_PARTS
        ),
        _product(
            "few_odd_rows", "mnk", "mk", "nk", "mn", {"m": 9, "n": 229, "k": 2056}, "f16", _PARTS
        ),
        _product(
            "long_sums", "mnk", "mk", "kn", "mn", {"m": 129, "n": 72, "k": 1032}, attributes=_PARTS
        ),
        _product(
            *("two_consumers", "mnk", "mk", "kn", "mn", {"m": 150, "n": 136, "k": 328}),
            attributes=_asks("rows = 128, columns = 64, stages = 3, consumers = 2, parts = 2"),
        ),
        # Blocks of a cluster with neighbouring tiles: of an odd number of these, with rows or
        # columns side by side in memory, of batches, and six blocks, three below one another.
        _product(
            *("down", "mnk", "mk", "nk", "mn", {"m": 133, "n": 67, "k": 584}),
            attributes=_asks("rows = 64, columns = 64, stages = 3, consumers = 1, down = 2"),
        ),
        _product(
            *("across", "mnk", "km", "kn", "mn", {"m": 136, "n": 520, "k": 136}, "f16"),
            attributes=_asks("rows = 128, columns = 128, stages = 2, consumers = 2, across = 2"),
        ),
        _product(
            *("around", "bmnk", "bmk", "bkn", "bmn", {"b": 3, "m": 150, "n": 200, "k": 328}),
            attributes=_asks(
                "rows = 64, columns = 128, stages = 2, consumers = 1, down = 2, across = 2"
            ),
        ),
        _product(
            *("beside", "mnk", "mk", "nk", "mn", {"m": 390, "n": 250, "k": 72}),
            attributes=_asks(
                "rows = 64, columns = 96, stages = 4, consumers = 1, group = 4, down = 3, "
                "across = 2"
            ),
        ),
        # Consumers with tiles of their own: of an odd number of these, and of more than blocks.
        _product(
            *("apart", "mnk", "mk", "nk", "mn", {"m": 133, "n": 200, "k": 584}),
            attributes=_asks(
                "rows = 64, columns = 64, stages = 3, consumers = 2, resident = 1, down = 1, "
                "across = 1, apart = true"
            ),
        ),
        _product(
            *("many_apart", "bmnk", "bmk", "bkn", "bmn", {"b": 150, "m": 72, "n": 136, "k": 136}),
            attributes=_asks(
                "rows = 128, columns = 128, stages = 4, consumers = 2, resident = 1, down = 1, "
                "across = 1, apart = true"
            ),
        ),
        # Those of a cluster's blocks, in all shapes of neighbours.
        *(
            _product(
                *(f"apart_{down}_{across}", "mnk", "mk", "nk", "mn"),
                {"m": 1300, "n": 1416, "k": 136},
                attributes=_asks(
                    "rows = 128, columns = 128, stages = 4, consumers = 2, resident = 1, "
                    f"down = {down}, across = {across}, apart = true"
                ),
            )
            for down, across in ((2, 1), (1, 2), (2, 2))
        ),
        # Columns that are dealt: as they are, and of tiles that reach beyond them.
        _product(
            *("dealt", "mnk", "mk", "nk", "mn", {"m": 390, "n": 352, "k": 584}),
            attributes=_asks("rows = 128, columns = 128, stages = 3, consumers = 2, parts = 1"),
        ),
        # Few rows: neighbours in the larger factor's memory are terms, or columns, or it is first.
        _product("few_of_terms", "mnk", "mk", "nk", "mn", {"m": 4, "n": 131, "k": 776}),
        _product("few_of_columns", "mnk", "mk", "kn", "mn", {"m": 3, "n": 136, "k": 264}, "f32"),
        _product("few_last", "mnk", "mk", "kn", "mn", {"m": 131, "n": 5, "k": 136}, "f16"),
        _product(
            *("few_of_heads", "bmnk", "bmk", "nbk", "mbn", {"b": 3, "m": 2, "n": 70, "k": 64}),
            attributes=_few("columns = 4, lanes = 8, unroll = 2, threads = 128"),
        ),
        _product(
            *("few_wide", "mnk", "mk", "nk", "mn", {"m": 7, "n": 67, "k": 2056}, "f32"),
            attributes=_few("columns = 2, lanes = 256, unroll = 2, threads = 512"),
        ),
        _product(
            *("few_across", "mnk", "km", "kn", "mn", {"m": 8, "n": 264, "k": 250}, "f16"),
            attributes=_few("columns = 8, terms = 2, lanes = 16, across = 4, threads = 128"),
        ),
        _product("exact", "mnk", "mk", "nk", "mn", {**_SIZES, "m": 140}, "f32"),
    ],
    flags=("-O0", "--products=own"),
)


def _added(
    name: str,
    sizes: dict[str, int],
    others: tuple[str, ...],
    attributes: str = "",
    element: str = "bf16",
    result: str = "bf16",
) -> Written:
    """A product of rows of m and rows of n, to which others are added.

    Each of these is given by its dims and its elements, as in "mn f32".
    """

    def tensor(dims: str, of: str) -> str:
        return f"tensor<{''.join(f'{sizes[loop]}x' for loop in dims)}{of}>"

    operands = [("mk", element), ("nk", element), *(tuple(each.split()) for each in others)]
    y, sums = tensor("mn", result), tensor("mn", "f32")
    a, b, *added = (tensor(*each) for each in operands)
    factors = ", ".join(f"affine_map<(m, n, k) -> ({', '.join(dims)})>" for dims in ("mk", "nk"))
    maps = ", ".join(
        f"affine_map<(m, n) -> ({', '.join(dims)})>"
        for dims in ("mn", *(dims for dims, _ in operands[2:]), "mn")
    )
    names = [f"%r{place}" for place in range(len(added))]
    of_added = [of for _, of in operands[2:]]
    given = "".join(f", {each}: {kind}" for each, kind in zip(names, added, strict=True))
    inside = "".join(f"%e{place}: {of}, " for place, of in enumerate(of_added))
    lines: list[str] = []
    total = "%t"
    for place, of in enumerate(of_added):
        wide = f"%e{place}"
        if of != "f32":
            lines.append(f"%w{place} = arith.extf %e{place} : {of} to f32")
            wide = f"%w{place}"
        lines.append(f"%s{place} = arith.addf {total}, {wide} : f32")
        total = f"%s{place}"
    if result != "f32":
        lines.append(f"%v = arith.truncf {total} : f32 to {result}")
        total = "%v"
    computed = "\n".join(lines)
    source = f"""
      func.func @NAME(%a: {a}, %b: {b}{given}) -> {y} {{
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : {sums}
        %start = linalg.fill ins(%zero : f32) outs(%empty : {sums}) -> {sums}
        %p = linalg.generic {{indexing_maps = [{factors}, affine_map<(m, n, k) -> (m, n)>],
                              iterator_types = ["parallel", "parallel", "reduction"]}}
            ins(%a, %b : {a}, {b}) outs(%start : {sums}) attrs = {{{attributes}}} {{
        ^bb0(%x: {element}, %w: {element}, %o: f32):
          %x32 = arith.extf %x : {element} to f32
          %w32 = arith.extf %w : {element} to f32
          %m = arith.mulf %x32, %w32 : f32
          %s = arith.addf %o, %m : f32
          linalg.yield %s : f32
        }} -> {sums}
        %out = tensor.empty() : {y}
        %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
            ins({", ".join(["%p", *names])} : {", ".join([sums, *added])}) outs(%out : {y}) {{
        ^bb0(%t: f32, {inside}%o: {result}):
          {computed}
          linalg.yield {total} : {result}
        }} -> {y}
        return %y : {y}
      }}"""

    def reference(a: torch.Tensor, b: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        found = a @ b.T
        for (dims, _), each in zip(operands[2:], rest, strict=True):
            found = found + torch.einsum(f"{dims},mn->mn", each, torch.ones_like(found))
        return found

    return Written(
        name,
        tuple(f"{of}[{', '.join(str(sizes[loop]) for loop in dims)}]" for dims, of in operands),
        (f"{result}[{sizes['m']}, {sizes['n']}]",),
        reference,
        ({"one": 1},),
        magnitude=20.0,
        source=source,
    )


_APART = _asks(
    "rows = 128, columns = 128, stages = 4, consumers = 2, resident = 1, down = 1, across = 1, "
    "parts = 1, apart = true"
)
_SMALL = _asks("rows = 64, columns = 64, stages = 3, consumers = 1, down = 1, across = 1")
# What is added has an element for each result, for each row or column, or lies by columns.
ADDED = Suite(
    [
        _added("one", _SIZES, ("mn bf16",)),
        _added("of_f32", _SIZES, ("mn f32",)),
        _added("two", _SIZES, ("mn bf16", "mn bf16"), _SMALL),
        _added("of_two_types", _SIZES, ("mn f32", "mn bf16"), _SMALL),
        _added("with_a_bias", _SIZES, ("n f32", "mn bf16", "m f32")),
        _added("to_f32", _SIZES, ("mn f32", "n f32"), _SMALL, "f16", "f32"),
        _added("by_columns", _SIZES, ("nm bf16", "mn bf16")),
        _added("of_odd_rows", {**_SIZES, "n": 133}, ("mn bf16",)),
        _added("without_copies", _SIZES, ("mn bf16",), _asks("companions = false")),
        # More than a stage has room for.
        _added("many", _SIZES, ("mn f32", "mn f32", "mn bf16", "mn f32"), _SMALL),
        _added(
            *("neighbours", {"m": 390, "n": 264, "k": 72}, ("mn bf16",)),
            _asks("rows = 64, columns = 64, stages = 2, consumers = 1, down = 2, across = 2"),
        ),
        _added("apart", {"m": 1300, "n": 1416, "k": 72}, ("mn bf16",), _APART),
        # Columns that the copy engine deals: each lane has runs of results. Apart, together, of
        # rows beyond the ends, with what has an element for each column, and of two results.
        _added(
            *("dealt", {"m": 390, "n": 288, "k": 72}, ("mn bf16", "mn f32", "n f32", "m bf16")),
            _asks("rows = 64, columns = 96, stages = 3, consumers = 1, down = 1, across = 1"),
        ),
        _added("dealt_apart", {"m": 1300, "n": 1408, "k": 72}, ("mn bf16", "n bf16"), _APART),
        _added("dealt_f32", {"m": 1300, "n": 1408, "k": 72}, ("mn f32",), _APART),
        _added("dealt_to_f32", {"m": 390, "n": 288, "k": 72}, ("mn f32",), _SMALL, "f16", "f32"),
        _added(
            *("dealt_neighbours", {"m": 390, "n": 352, "k": 136}, ("mn bf16", "n bf16")),
            _asks("rows = 64, columns = 128, stages = 2, consumers = 1, down = 2, across = 2"),
        ),
        _added(
            *("apart_neighbours", {"m": 1300, "n": 1416, "k": 72}, ("mn bf16", "n bf16")),
            _asks(
                "rows = 128, columns = 128, stages = 4, consumers = 2, resident = 1, down = 2, "
                "across = 1, parts = 1, apart = true"
            ),
        ),
        _added("apart_f32", {"m": 1300, "n": 1416, "k": 72}, ("mn f32", "n f32"), _APART),
    ],
    flags=("-O0", "--products=own"),
)


@pytest.mark.parametrize("name", ADDED.names)
def test_added(name: str) -> None:
    ADDED.check(name)


# The sum of a product and of what is there.
_ONTO = """
"hir.program"() ({
^bb0(%x: memref<133x248xbf16>, %w: memref<136x248xbf16>, %y: memref<133x136xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w, %y : memref<133x248xbf16>, memref<136x248xbf16>, memref<133x136xbf16>)
    outs(%y : memref<133x136xbf16>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %o: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %e = arith.extf %c : bf16 to f32
    %v = arith.addf %s, %e : f32
    %n = arith.truncf %v : f32 to bf16
    linalg.yield %n : bf16
  }
  "hir.output"(%y) {name = "y"} : (memref<133x136xbf16>) -> ()
}) {sym_name = "onto", inputs = [{name = "x"}, {name = "w"}, {name = "y"}],
    function_type = (memref<133x248xbf16>, memref<136x248xbf16>, memref<133x136xbf16>)
        -> memref<133x136xbf16>} : () -> ()
"""


def test_added_in_place() -> None:
    torch.manual_seed(3)
    x, w, y = (torch.randn(shape).bfloat16() for shape in ((133, 248), (136, 248), (133, 136)))
    wanted = x.double() @ w.double().T + y.double()
    library(_ONTO, "-O0").programs["onto"](x, w, y)
    assert torch.allclose(y.double(), wanted, rtol=2**-8, atol=2**-12)


# silu of a product.
_SILU = """
"hir.program"() ({
^bb0(%x: memref<256x128xbf16>, %w: memref<256x128xbf16>, %y: memref<256x256xbf16>):
  %one = arith.constant 1.0 : f32
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<256x128xbf16>, memref<256x128xbf16>)
    outs(%y : memref<256x256xbf16>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %n = arith.negf %s : f32
    %e = math.exp %n : f32
    %u = arith.addf %e, %one : f32
    QUOTIENT
    %r = arith.truncf %v : f32 to bf16
    linalg.yield %r : bf16
  }
  "hir.output"(%y) {name = "y"} : (memref<256x256xbf16>) -> ()
}) {sym_name = "silu", inputs = [{name = "x"}, {name = "w"}, {name = "y"}],
    function_type = (memref<256x128xbf16>, memref<256x128xbf16>, memref<256x256xbf16>)
        -> memref<256x256xbf16>} : () -> ()
"""


@pytest.mark.parametrize(
    "quotient",
    [
        "%v = arith.divf %s, %u : f32",
        "%d = arith.divf %one, %u : f32 %v = arith.mulf %d, %s : f32",
    ],
)
def test_quotients_of_powers(quotient: str) -> None:
    """They are as exact as of f32, in which powers are infinite from 89 on."""
    x = torch.linspace(-130, 130, 256 * 128).reshape(256, 128).bfloat16()
    w = torch.eye(128).repeat(2, 1).bfloat16()
    y = torch.empty(256, 256).bfloat16()
    library(_SILU.replace("QUOTIENT", quotient), "-O0").programs["silu"](x, w, y)
    wide = x.float().repeat(1, 2)
    wanted = wide / (1 + (-wide).exp())
    assert torch.allclose(y.float(), wanted, rtol=2**-7, atol=2**-126)


def _of_bytes(
    name: str,
    maps: tuple[str, str],
    sizes: dict[str, int],
    elements: tuple[str, str],
    extensions: tuple[str, str],
    total: str,
    attributes: str = "",
) -> Written:
    """Returns a product of elements of 8 bits, with each result scaled by a number of its column.

    The operands' dims are given by the letters m, n and k.
    """
    first, second = (
        f"tensor<{''.join(f'{sizes[loop]}x' for loop in dims)}{of}>"
        for dims, of in zip(maps, elements, strict=True)
    )
    zero, kind, as_f32 = "0", "i", "sitofp %t : i32 to f32"
    if total == "f32":
        zero, kind, as_f32 = "0.0", "f", "negf %t : f32"
    sums, y = (f"tensor<{sizes['m']}x{sizes['n']}x{of}>" for of in (total, "f32"))
    scale = f"tensor<{sizes['n']}xf32>"
    indexing = ", ".join(f"affine_map<(m, n, k) -> ({', '.join(dims)})>" for dims in (*maps, "mn"))
    same = "affine_map<(m, n) -> (m, n)>"
    source = f"""
      func.func @NAME(%a: {first}, %b: {second}, %s: {scale}) -> {y} {{
        %zero = arith.constant {zero} : {total}
        %empty = tensor.empty() : {sums}
        %start = linalg.fill ins(%zero : {total}) outs(%empty : {sums}) -> {sums}
        %p = linalg.generic {{indexing_maps = [{indexing}],
                              iterator_types = ["parallel", "parallel", "reduction"]}}
            ins(%a, %b : {first}, {second}) outs(%start : {sums}) attrs = {{{attributes}}} {{
        ^bb0(%x: {elements[0]}, %w: {elements[1]}, %o: {total}):
          %x1 = arith.{extensions[0]} %x : {elements[0]} to {total}
          %w1 = arith.{extensions[1]} %w : {elements[1]} to {total}
          %m = arith.mul{kind} %x1, %w1 : {total}
          %t = arith.add{kind} %o, %m : {total}
          linalg.yield %t : {total}
        }} -> {sums}
        %out = tensor.empty() : {y}
        %y = linalg.generic {{indexing_maps = [{same}, affine_map<(m, n) -> (n)>, {same}],
                              iterator_types = ["parallel", "parallel"]}}
            ins(%p, %s : {sums}, {scale}) outs(%out : {y}) {{
        ^bb0(%t: {total}, %by: f32, %o: f32):
          %f = arith.{as_f32}
          %q = arith.mulf %f, %by : f32
          linalg.yield %q : f32
        }} -> {y}
        return %y : {y}
      }}"""

    def reference(a: torch.Tensor, b: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        wide = [
            torch.where(each < 0, each.double() + 256, each.double())
            if how == "extui"
            else each.double()
            for each, how in zip((a, b), extensions, strict=True)
        ]
        sums = torch.einsum(f"{maps[0]},{maps[1]}->mn", *wide) * s
        return -sums if total == "f32" else sums

    return Written(
        name,
        (
            *(
                f"{of}[{', '.join(str(sizes[loop]) for loop in dims)}]"
                for dims, of in zip(maps, elements, strict=True)
            ),
            f"f32[{sizes['n']}]",
        ),
        (f"f32[{sizes['m']}, {sizes['n']}]",),
        reference,
        ({"one": 1},),
        magnitude=20.0,
        tolerance_on_gpu=f8_on_gpu(sizes["k"]) if total == "f32" else 1.0,
        source=source,
    )


_F8 = ("extf", "extf")


def _drawn(seed: int) -> Written:
    """Draws a product of elements of 8 bits, of sizes that fit no tile, in any layout."""
    draw = random.Random(seed)
    sizes = {
        "m": draw.randint(65, 200),
        "n": draw.randint(129, 260),
        "k": 16 * draw.randint(32, 40),
    }
    maps = draw.choice(("mk", "mk", "km")), draw.choice(("nk", "nk", "kn"))
    if draw.random() < 0.5:
        how = draw.choice(("extsi", "extui")), draw.choice(("extsi", "extui"))
        return _of_bytes(f"drawn_{seed}", maps, sizes, ("i8", "i8"), how, "i32")
    elements = draw.choice(("f8E4M3FN", "f8E5M2")), draw.choice(("f8E4M3FN", "f8E5M2"))
    return _of_bytes(f"drawn_{seed}", maps, sizes, elements, _F8, "f32")


_BYTES = {"m": 133, "n": 131, "k": 272}
# Elements of 8 bits: sums of f32 or i32, two element types, sums in parts.
BYTES = Suite(
    [
        _of_bytes("f8", ("mk", "nk"), _BYTES, ("f8E4M3FN", "f8E4M3FN"), _F8, "f32"),
        _of_bytes("f8_two", ("mk", "nk"), _BYTES, ("f8E5M2", "f8E4M3FN"), _F8, "f32"),
        _of_bytes("i8", ("mk", "nk"), _BYTES, ("i8", "i8"), ("extsi", "extsi"), "i32"),
        _of_bytes("u8", ("mk", "nk"), _BYTES, ("i8", "i8"), ("extui", "extsi"), "i32"),
        _of_bytes(
            *("i8_parts", ("mk", "nk"), {"m": 9, "n": 228, "k": 4112}, ("i8", "i8")),
            *(("extsi", "extsi"), "i32", _PARTS),
        ),
        _of_bytes(
            *("f8_slices", ("mk", "nk"), {"m": 140, "n": 152, "k": 272}, ("f8E5M2", "f8E5M2")),
            *(_F8, "f32", _asks("rows = 128, columns = 64, stages = 3, consumers = 1")),
        ),
        # Products of a tile that follow one another, with registers of the producer.
        _of_bytes(
            *("f8_down", ("mk", "nk"), {"m": 300, "n": 150, "k": 400}, ("f8E4M3FN", "f8E4M3FN")),
            *(
                _F8,
                "f32",
                _asks(
                    "rows = 256, columns = 128, stages = 3, consumers = 2, down = 2, resident = 1"
                ),
            ),
        ),
        _of_bytes(
            *("f8_across", ("mk", "nk"), {"m": 150, "n": 523, "k": 272}, ("f8E4M3FN", "f8E5M2")),
            *(
                _F8,
                "f32",
                _asks(
                    "rows = 128, columns = 256, stages = 2, consumers = 2, across = 2, resident = 1"
                ),
            ),
        ),
        _of_bytes(
            *("f8_wide", ("mk", "nk"), {"m": 150, "n": 203, "k": 272}, ("f8E4M3FN", "f8E4M3FN")),
            *(
                _F8,
                "f32",
                _asks("rows = 128, columns = 192, stages = 3, consumers = 2, resident = 1"),
            ),
        ),
        # Terms that are not contiguous.
        _of_bytes(
            "i8_columns",
            ("mk", "kn"),
            {**_BYTES, "n": 144},
            ("i8", "i8"),
            ("extsi", "extsi"),
            "i32",
        ),
        _of_bytes(
            "f8_rows", ("km", "nk"), {**_BYTES, "m": 144}, ("f8E4M3FN", "f8E4M3FN"), _F8, "f32"
        ),
        *(_drawn(seed) for seed in range(6)),
    ],
)


@pytest.mark.parametrize("name", BYTES.names)
def test_bytes(name: str) -> None:
    BYTES.check(name)


# Factors of f32 that are rounded to tf32: terms lie together except in one, which warps multiply.
ROUNDED = Suite(
    [
        replace(program, tolerance=250.0)
        for program in (
            _product("linear", "mnk", "mk", "nk", "mn", {**_SIZES, "n": 131}, "f32"),
            _product("weight_by_columns", "mnk", "mk", "kn", "mn", _SIZES, "f32"),
            _product("heads", "bhstd", "bshd", "bthd", "bhst", _HEADS, "f32"),
            _product(
                "sums", "mnjk", "jmk", "jnk", "mn", {"m": 72, "n": 136, "j": 5, "k": 100}, "f32"
            ),
            _product(
                "parts", "mnk", "mk", "nk", "mn", {"m": 70, "n": 68, "k": 1028}, "f32", _PARTS
            ),
            _product(
                *("two_consumers", "mnk", "mk", "nk", "mn", {"m": 150, "n": 136, "k": 228}, "f32"),
                attributes=_asks("rows = 128, columns = 96, stages = 3, consumers = 2"),
            ),
        )
    ],
    flags=("-O0", "--products=own", "--float32-products=tf32"),
)


@pytest.mark.parametrize("name", ROUNDED.names)
def test_rounded(name: str) -> None:
    ROUNDED.check(name)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence(
        [
            "plain",
            "columns_by_terms",
            "heads",
            "few_odd_rows",
            "few_of_terms",
            "few_wide",
            "few_across",
            "around",
        ]
    )
    BYTES.check_silence(["f8", "i8_parts", "f8_down"])
    ADDED.check_silence(["two", "of_two_types", "neighbours", "apart"])

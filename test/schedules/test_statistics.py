"""Reductions of products' results on the CPU device, against torch in float64.

Kernels compute parts of them: in each layout of lanes, of sizes that fit no tile, and of loops that
are reduced in part. Others are reduced by kernels of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Written

import hirc
from hirc.compiler.errors import InputError
from hirc.pipelines.schedules.contraction import configuration

_SIZES = {"m": 133, "n": 136, "k": 248}
Reduction = Callable[[torch.Tensor, Sequence[int]], torch.Tensor]


def _halves(y: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    return (y / 2).sum(list(dims))


def _squares(y: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    return (y * y).sum(list(dims))


def _greatest(y: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    return (-y).amax(list(dims))


def _least(y: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    return y.amin(list(dims)) + 0.5


def _logistic(y: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    return y.sigmoid().sum(list(dims))


# What is reduced of the results: the operations on an element, how they are combined, and the same
# in torch.
_KINDS: dict[str, tuple[str, str, Reduction]] = {
    "sum": ("%v = arith.mulf %t, %half : f32", "addf", _halves),
    "squares": ("%v = arith.mulf %t, %t : f32", "addf", _squares),
    "greatest": ("%v = arith.negf %t : f32", "maximumf", _greatest),
    "least": ("%v = arith.addf %t, %half : f32", "minimumf", _least),
    "logistic": (
        """%n = arith.negf %t : f32
           %e = math.exp %n : f32
           %d = arith.addf %e, %one : f32
           %v = arith.divf %one, %d : f32""",
        "addf",
        _logistic,
    ),
}


def _reduced(
    name: str,
    loops: str,
    first: str,
    second: str,
    result: str,
    sizes: dict[str, int],
    statistics: tuple[str, ...],
    *,
    element: str = "bf16",
    writes: bool = True,
    asks: str = "",
    is_open: str = "",
) -> Written:
    """A product whose operands have the loops of those letters for dims, and statistics of it.

    Each is a kind and the loops that it reduces, such as "sum n". The product is a result, too, if
    the program `writes` it; it `is_open` along some loops.
    """

    def kind(dims: str, of: str) -> str:
        places = ["?" if loop in is_open else str(sizes[loop]) for loop in dims]
        return f"tensor<{''.join(f'{each}x' for each in places)}{of}>"

    def map_(dims: str, among: str) -> str:
        return f"affine_map<({', '.join(among)}) -> ({', '.join(dims)})>"

    def extended(of: str, value: str) -> str:
        wide = f"arith.extf %{value} : {element} to f32"
        return f"%{of} = " + (wide if element != "f32" else f"arith.addf %{value}, %none : f32")

    def empty(of: str, dims: str, type_: str) -> str:
        open_ = ", ".join(f"%s{loop}" for loop in dims if loop in is_open)
        return f"%{of} = tensor.empty({open_}) : {kind(dims, type_)}"

    a, b, total = kind(first, element), kind(second, element), kind(result, "f32")
    attributes = f'hir.configuration = {{family = "contraction", {asks}}}' if asks else ""
    iterators = ", ".join('"parallel"' if loop in result else '"reduction"' for loop in loops)
    lines = [f"%c{at} = arith.constant {at} : index" for at in range(4)]
    for loop in is_open:
        where, dims = ("a", first) if loop in first else ("b", second)
        of = a if where == "a" else b
        lines.append(f"%s{loop} = tensor.dim %{where}, %c{dims.index(loop)} : {of}")
    lines += [
        "%none = arith.constant -0.0 : f32",
        "%zero = arith.constant 0.0 : f32",
        "%half = arith.constant 0.5 : f32",
        "%one = arith.constant 1.0 : f32",
        empty("empty", result, "f32"),
        f"%start = linalg.fill ins(%zero : f32) outs(%empty : {total}) -> {total}",
        f"""%p = linalg.generic {{
              indexing_maps = [{", ".join(map_(each, loops) for each in (first, second, result))}],
              iterator_types = [{iterators}]}}
            ins(%a, %b : {a}, {b}) outs(%start : {total}) attrs = {{{attributes}}} {{
        ^bb0(%x: {element}, %w: {element}, %o: f32):
          {extended("x32", "x")}
          {extended("w32", "w")}
          %m = arith.mulf %x32, %w32 : f32
          %s = arith.addf %o, %m : f32
          linalg.yield %s : f32
        }} -> {total}""",
    ]
    found: list[tuple[str, str, str]] = []
    if writes:
        y = kind(result, element)
        rounded = f"%v = arith.truncf %t : f32 to {element}"
        if element == "f32":
            rounded = "%v = arith.addf %t, %none : f32"
        parallel = ", ".join(['"parallel"'] * len(result))
        lines += [
            empty("out", result, element),
            f"""%y = linalg.generic {{indexing_maps = [{map_(result, result)},
                {map_(result, result)}], iterator_types = [{parallel}]}}
              ins(%p : {total}) outs(%out : {y}) {{
          ^bb0(%t: f32, %o: {element}):
            {rounded}
            linalg.yield %v : {element}
          }} -> {y}""",
        ]
        found.append(("%y", result, element))
    for at, each in enumerate(statistics):
        what, along = each.split()
        computed, combined, _ = _KINDS[what]
        kept = "".join(loop for loop in result if loop not in along)
        r = kind(kept, "f32")
        begin = {"addf": "0.0", "maximumf": "0xFF800000", "minimumf": "0x7F800000"}[combined]
        kinds = ", ".join('"reduction"' if loop in along else '"parallel"' for loop in result)
        lines += [
            empty(f"r{at}", kept, "f32"),
            f"%begin{at} = arith.constant {begin} : f32",
            f"%f{at} = linalg.fill ins(%begin{at} : f32) outs(%r{at} : {r}) -> {r}",
            f"""%z{at} = linalg.generic {{indexing_maps = [{map_(result, result)},
                {map_(kept, result)}], iterator_types = [{kinds}]}}
              ins(%p : {total}) outs(%f{at} : {r}) {{
          ^bb0(%t: f32, %o: f32):
            {computed}
            %c = arith.{combined} %o, %v : f32
            linalg.yield %c : f32
          }} -> {r}""",
        ]
        found.append((f"%z{at}", kept, "f32"))
    types = ", ".join(kind(dims, of) for _, dims, of in found)
    body = "\n".join(lines)
    source = f"""
      func.func @NAME(%a: {a}, %b: {b}) -> ({types}) {{
        {body}
        return {", ".join(each for each, _, _ in found)} : {types}
      }}"""

    def reference(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.einsum(f"{first},{second}->{result}", a, b)
        given = [y] if writes else []
        for each in statistics:
            what, along = each.split()
            given.append(_KINDS[what][2](y, [result.index(loop) for loop in along]))
        return tuple(given)

    def spec(dims: str, of: str) -> str:
        places = [loop if loop in is_open else str(sizes[loop]) for loop in dims]
        return f"{of}[{', '.join(places)}]"

    return Written(
        name,
        (spec(first, element), spec(second, element)),
        tuple(spec(dims, of) for _, dims, of in found),
        reference,
        tuple(dict.fromkeys(is_open, size) for size in (1, 70, 300)) if is_open else ({"one": 1},),
        magnitude=400.0,
        special=not is_open,
        source=source,
    )


_APART = (
    "rows = 128, columns = 128, stages = 4, consumers = 2, resident = 1, down = 1, across = 1, "
    "parts = 1, apart = true"
)
_ROWS, _COLUMNS, _ALL = ("sum n", "greatest n"), ("squares m", "least m"), ("sum nm",)


def _of_tile(name: str) -> list[Written]:
    """Products by a tile that threads copy: rows and columns, and runs that begin anywhere.

    A sum is made in one part, or in two.
    """
    tile, element, (first, second) = _ALL_TILES[name]
    # Where neither has its terms together, small tiles need copies of 16 bytes.
    m, h = (136, 48) if first == "km" else (133, 49)
    asks: list[str] = []
    for parts in (1, 2):
        made = tile.decision(stages=3, parts=parts)
        if made.columns > made.threads:
            # Threads beside one another have all columns; of parts, those of another kernel.
            made = tile.decision(stages=3, parts=2)
        asked = made.values
        asks.append(", ".join(f"{key} = {asked[key]}" for key in asked if key != "family"))
    return [
        _reduced(
            *(name, "mnk", first, second, "mn", {"m": m, "n": 136, "k": 520}),
            (*_ROWS, *_COLUMNS, *_ALL),
            element=element,
            asks=asks[0],
        ),
        _reduced(
            *(f"{name}_runs", "ihck", first.replace("m", "c"), second.replace("n", "ih"), "cih"),
            {"i": 5, "h": h, "c": 72, "k": 520},
            ("squares h", "greatest ch"),
            element=element,
            asks=asks[1],
        ),
    ]


_SMALL = {"c": 70, "k": 72}
_FLAGS = ("-O0", "--products=own")
# Every tile that threads copy, with the dims of the factors in which it is one.
_ALL_TILES = {
    f"tile_{tile.rows}x{tile.columns}_{name}": (tile, element, dims)
    for name, tiles, element, dims in (
        ("f32", configuration._TILES, "f32", ("mk", "nk")),  # pyright: ignore[reportPrivateUsage]
        ("bf16", configuration._MATRIX_TILES, "bf16", ("km", "kn")),  # pyright: ignore[reportPrivateUsage]
        ("wgmma", configuration._WARPGROUP_TILES, "bf16", ("mk", "nk")),  # pyright: ignore[reportPrivateUsage]
    )
    for tile in tiles
}
# Those with columns that lanes reduce.
_TILES = {
    name: each for name, each in _ALL_TILES.items() if each[0].columns in (8, 16, 32, 64, 128, 256)
}
SUITE = Suite(
    [
        _reduced("rows", "mnk", "mk", "nk", "mn", _SIZES, _ROWS),
        _reduced("rows_alone", "mnk", "mk", "nk", "mn", _SIZES, _ROWS, writes=False),
        _reduced("columns", "mnk", "mk", "kn", "mn", _SIZES, _COLUMNS, element="f16"),
        _reduced("columns_alone", "mnk", "mk", "kn", "mn", _SIZES, _COLUMNS, writes=False),
        _reduced("all", "mnk", "mk", "nk", "mn", _SIZES, _ALL),
        _reduced("several", "mnk", "mk", "nk", "mn", _SIZES, (*_ROWS, *_COLUMNS, *_ALL)),
        _reduced("odd", "mnk", "mk", "nk", "mn", {**_SIZES, "n": 131}, (*_ROWS, *_COLUMNS, *_ALL)),
        # What is made of zeros beyond the ends is none.
        *(
            _reduced(
                *(f"beyond_{n}", "mnk", "mk", "nk", "mn", {**_SIZES, "n": n}),
                ("logistic n", "logistic m", "logistic nm"),
            )
            for n in (131, 136)
        ),
        _reduced("turned", "mnk", "mk", "nk", "nm", {**_SIZES, "m": 136}, (*_ROWS, *_COLUMNS)),
        # Tiles of all kinds: in turns, with neighbours, of which some lie beyond the ends.
        _reduced(
            *("apart", "mnk", "mk", "nk", "mn", {"m": 1300, "n": 1416, "k": 72}),
            (*_ROWS, *_COLUMNS, *_ALL),
            asks=_APART,
        ),
        _reduced(
            *("dealt", "mnk", "mk", "nk", "mn", {"m": 390, "n": 288, "k": 72}),
            (*_ROWS, *_COLUMNS, *_ALL),
            asks="rows = 64, columns = 96, stages = 3, consumers = 1, down = 1, across = 1",
        ),
        _reduced(
            *("neighbours", "mnk", "mk", "nk", "mn", {"m": 390, "n": 331, "k": 72}),
            (*_ROWS, *_COLUMNS, *_ALL),
            asks="rows = 64, columns = 64, stages = 2, consumers = 1, down = 2, across = 2",
        ),
        _reduced(
            *("consumers", "mnk", "mk", "nk", "mn", {"m": 390, "n": 264, "k": 72}),
            (*_ROWS, *_COLUMNS, *_ALL),
            asks="rows = 128, columns = 64, stages = 3, consumers = 2, down = 1, across = 1",
        ),
        # Batches, and those that are reduced.
        _reduced(
            *("batches", "bmnk", "bmk", "bnk", "bmn", {"b": 3, "m": 70, "n": 136, "k": 72}),
            ("sum n", "greatest m", "sum bn", "least bmn"),
        ),
        # Rows and columns of two loops, of which one is reduced: of whole units and of others.
        _reduced(
            *("two_rows", "imnk", "imk", "nk", "imn", {"i": 5, "m": 48, "n": 136, "k": 72}),
            ("sum m", "greatest im", "squares mn"),
        ),
        _reduced(
            *("two_rows_each", "imnk", "imk", "nk", "imn", {"i": 5, "m": 144, "n": 136, "k": 72}),
            ("sum m", "logistic mn"),
            asks="rows = 128, columns = 64, stages = 3, consumers = 1, down = 1, across = 1",
        ),
        _reduced(
            *("two_odd_rows", "imnk", "imk", "nk", "imn", {"i": 5, "m": 33, "n": 136, "k": 72}),
            ("sum m", "greatest im"),
            writes=False,
        ),
        _reduced(
            *("outer_rows", "imnk", "imk", "nk", "imn", {"i": 5, "m": 48, "n": 136, "k": 72}),
            ("sum i",),
        ),
        _reduced(
            *("heads", "mhdk", "mk", "hdk", "mhd", {"m": 133, "h": 3, "d": 64, "k": 72}),
            ("squares d", "greatest hd"),
        ),
        _reduced(
            *("odd_heads", "mhdk", "mk", "hdk", "mhd", {"m": 133, "h": 3, "d": 40, "k": 264}),
            ("squares d",),
        ),
        _reduced(
            *("beside_heads", "mhdk", "mk", "hdk", "mhd", {"m": 133, "h": 32, "d": 64, "k": 72}),
            ("squares h",),
        ),
        # f32 on ordinary cores, in tiles and in parts of sums.
        _reduced(
            *("f32", "mnk", "mk", "nk", "mn", _SIZES, (*_ROWS, *_COLUMNS, *_ALL)), element="f32"
        ),
        _reduced(
            *("f32_alone", "mnk", "mk", "kn", "mn", {"m": 300, "n": 523, "k": 72}),
            ("logistic n", "logistic m", "logistic nm"),
            element="f32",
            writes=False,
        ),
        _reduced(
            *("f32_parts", "mnk", "mk", "nk", "mn", {"m": 70, "n": 67, "k": 2056}),
            (*_ROWS, *_COLUMNS, *_ALL),
            element="f32",
        ),
        _reduced(
            *("f32_batches", "bmnk", "bmk", "bnk", "bmn", {"b": 9, "m": 70, "n": 67, "k": 136}),
            ("sum n", "greatest m", "sum bn", "least bmn"),
            element="f32",
        ),
        _reduced(
            *("f32_two_columns", "mhdk", "mk", "hdk", "mhd", {"m": 133, "h": 9, "d": 40, "k": 136}),
            ("squares d", "greatest hd"),
            element="f32",
        ),
        # Few rows, long sums and small products, whose kernels are others.
        _reduced("long", "mnk", "mk", "nk", "mn", {"m": 64, "n": 256, "k": 4104}, _ROWS),
        _reduced("few", "mnk", "mk", "nk", "mn", {"m": 5, "n": 3072, "k": 512}, _ROWS),
        _reduced(
            "small", "mnk", "mk", "nk", "mn", {"m": 60, "n": 70, "k": 72}, (*_ROWS, *_COLUMNS)
        ),
        # Runs of columns that begin anywhere, as an image's places do: of fewer than a warp has, or
        # of as many as fill one warp and a part of another.
        *(
            _reduced(
                *(f"runs_of_{size}", "ihck", "ck", "ihk", "cih", {"i": 29, "h": size, **_SMALL}),
                ("squares h", "greatest ch"),
                element="f32",
                writes=size == 49,
            )
            for size in (9, 17, 33, 49, 57)
        ),
        # Sizes that are known when the program runs.
        _reduced("open", "mnk", "mk", "nk", "mn", _SIZES, (*_ROWS, *_COLUMNS), is_open="m"),
        _reduced(
            *("open_columns", "mnk", "mk", "nk", "mn", _SIZES, (*_ROWS, *_COLUMNS)),
            is_open="n",
            writes=False,
        ),
        _reduced(
            *("open_f32", "mnk", "mk", "nk", "mn", _SIZES, (*_ROWS, *_COLUMNS)),
            is_open="m",
            element="f32",
        ),
    ],
    flags=_FLAGS,
)


@pytest.mark.parametrize("name", SUITE.names)
def test_statistics(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence()


@pytest.mark.parametrize("tile", _TILES)
def test_tiles(tile: str) -> None:
    suite = Suite(_of_tile(tile), flags=_FLAGS)
    for name in suite.names:
        suite.check(name)


@pytest.mark.parametrize("tile", [name for name in _ALL_TILES if name not in _TILES])
def test_other_tiles_are_refused(tile: str) -> None:
    (program, _) = _of_tile(tile)
    text = program.text("main", None, packed=True)
    with pytest.raises(InputError, match="'columns' are a power of two from 8 up"):
        hirc.compile(text, target="cpu", products="own", cache=False)

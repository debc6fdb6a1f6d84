"""Attention in one kernel, against torch in float64."""

from __future__ import annotations

import re
from math import inf

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Sizes, reduce_loops

from hirc.pipelines.schedules.attention.configuration import Heads, configure
from hirc.pipelines.schedules.device import device_of


def _attention(
    element: str, loops: str, rows: int | None, scores: str, *, keeps_zeros: bool = False
) -> str:
    """A region over `loops`, of which the last two are keys and depth.

    `scores` makes %x of %s, with the indices of the row and the key in %i and %j. With
    `keeps_zeros` rows of which all is masked give 0.
    """
    count = loops.count(",") + 1
    keys, depth = count - 2, count - 1
    body = "%zero = arith.constant 0.0 : f32\n%one = arith.constant 1.0 : f32\n"
    body += "%least = arith.constant 0xFF800000 : f32\n"
    for number in range(3):
        body += f"%w{number} = arith.extf %x{number} : {element} to f32\n"
    body += "%p = arith.mulf %w0, %w1 : f32\n" + reduce_loops("%s", "addf", "%p", "f32", depth)
    body += f"%j = linalg.index {keys} : index\n"
    body += (
        "%i = arith.constant 0 : index\n" if rows is None else f"%i = linalg.index {rows} : index\n"
    )
    body += scores + reduce_loops("%m", "maximumf", "%x", "f32", keys)
    base, total = "%m", "%t"
    if keeps_zeros:
        body += (
            "%is = arith.cmpf oeq, %m, %least : f32\n%base = arith.select %is, %zero, %m : f32\n"
        )
        base, total = "%base", "%total"
    body += f"%d = arith.subf %x, {base} : f32\n%e = math.exp %d : f32\n"
    body += reduce_loops("%t", "addf", "%e", "f32", keys)
    if keeps_zeros:
        body += "%no = arith.cmpf oeq, %t, %zero : f32\n%total = arith.select %no, %one, %t : f32\n"
    body += f"""%q = arith.divf %e, {total} : f32
        %narrow = arith.truncf %q : f32 to {element}
        %wide = arith.extf %narrow : {element} to f32
        %v = arith.mulf %wide, %w2 : f32
        {reduce_loops("%r", "addf", "%v", "f32", keys)}
        %y = arith.truncf %r : f32 to {element}
        linalg.yield %y : {element}"""
    return _without_conversions(body) if element == "f32" else body


def _without_conversions(body: str) -> str:
    """The text without conversions of f32 to itself."""
    same = r"(%\w+) = arith\.\w+ (%\w+) : f32 to f32\n"
    while (found := re.search(same, body)) is not None:
        rest = body.replace(found[0], "", 1)
        body = re.sub(rf"{found[1]}\b", found[2], rest)
    return body


def _reference(x: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1) @ value


def _causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    x = torch.einsum("bgid,bjd->bgij", q, k) * 0.3
    i, j = torch.arange(x.shape[2])[:, None], torch.arange(x.shape[3])
    return torch.einsum("bgij,bjn->bign", torch.softmax(x.masked_fill(j > i + 5, -inf), -1), v)


def _masked(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    x = (q @ k.mT / 1.5 + bias[:, None]).masked_fill(mask == 0, -inf)
    return torch.softmax(x, -1).nan_to_num(0.0) @ v


def _window(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    i, j = torch.arange(q.shape[1])[:, None], torch.arange(k.shape[1])
    seen = (j <= i - 3) & (i - j < 20)
    return _reference((q @ k.mT).masked_fill(~seen, -inf), v)


def _plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return _reference(q @ k.mT, v)


def _one_row(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return _reference(q[:, None] @ k.mT, v)[:, 0]


# A group of query heads shares keys; rows see up to five keys more than their number.
_CAUSAL = """
    %scale = arith.constant 0.3 : f32
    %five = arith.constant 5 : index
    %last = arith.addi %i, %five : index
    %hidden = arith.cmpi sgt, %j, %last : index
    %scaled = arith.mulf %s, %scale : f32
    %x = arith.select %hidden, %least, %scaled : f32
"""
_MASKED = """
    %scale = arith.constant 1.5 : f32
    %scaled = arith.divf %s, %scale : f32
    %bias = arith.extf %x4 : f16 to f32
    %biased = arith.addf %scaled, %bias : f32
    %none = arith.constant 0 : i8
    %seen = arith.cmpi ne, %x3, %none : i8
    %x = arith.select %seen, %biased, %least : f32
"""
# Of the first three rows all is masked, so that they are nan.
_WINDOW = """
    %three = arith.constant 3 : index
    %twenty = arith.constant 20 : index
    %end = arith.subi %i, %three : index
    %apart = arith.subi %i, %j : index
    %before = arith.cmpi sle, %j, %end : index
    %near = arith.cmpi slt, %apart, %twenty : index
    %seen = arith.andi %before, %near : i1
    %x = arith.select %seen, %s, %least : f32
"""
_PLAIN = "%x = arith.maximumf %s, %least : f32\n"


def _fused(
    name: str,
    element: str,
    loops: str,
    operands: tuple[str, ...],
    output: str,
    reference: object,
    body: str,
    fixed: tuple[Sizes, ...],
    sizes: tuple[Sizes, ...] = (),
    asks: str = "",
) -> Fused:
    return Fused(
        name,
        tuple(each if each[0] == "i" else f"{element}[{each}]" for each in operands),
        (f"{element}[{output}]",),
        reference,  # pyright: ignore[reportArgumentType]
        sizes,
        ranges={3: 2} if len(operands) > 3 else {},
        # Weights are rounded to 16 bits before they are multiplied by values.
        magnitude=0.0 if element == "f32" else 1000.0,
        tolerance=2.0,
        fixed=fixed,
        loops=loops,
        reduced="j, k",
        body=body,
        asks=asks,
        known={name: sizes[0][name] for name in "nk"} if sizes else {},
    )


_GROUPED, _HEADS, _ONE = "b, g, i, n, j, k", "h, i, n, j, k", "h, n, j, k"
SUITE = Suite(
    [
        _fused(
            "causal", "bf16", _GROUPED, ("b, g, i, k", "b, j, k", "b, j, n"), "b, i, g, n",
            _causal, _attention("bf16", _GROUPED, 2, _CAUSAL),
            ({"b": 2, "g": 2, "i": 37, "j": 150, "k": 24, "n": 40},),
        ),
        _fused(
            "masked", "f16", _HEADS, ("h, i, k", "h, j, k", "h, j, n", "i8[h, i, j]", "h, j"),
            "h, i, n", _masked, _attention("f16", _HEADS, 1, _MASKED, keeps_zeros=True),
            ({"h": 2, "i": 70, "j": 270, "k": 16, "n": 8},),
        ),
        # Few rows of many heads that share keys: a tile's rows are heads.
        _fused(
            "heads", "bf16", _GROUPED, ("b, g, i, k", "b, j, k", "b, j, n"), "b, i, g, n",
            _causal, _attention("bf16", _GROUPED, 2, _CAUSAL),
            ({"b": 2, "g": 7, "i": 2, "j": 150, "k": 24, "n": 40},),
        ),
        # By warpgroups, as the masked one: several tiles of rows and keys, heads of odd sizes.
        _fused(
            "warpgroups", "bf16", _GROUPED, ("b, g, i, k", "b, j, k", "b, j, n"), "b, i, g, n",
            _causal, _attention("bf16", _GROUPED, 2, _CAUSAL),
            ({"b": 1, "g": 2, "i": 150, "j": 300, "k": 72, "n": 136},),
        ),
        # Warpgroups that begin products in turns, and blocks with several tiles of rows, of which
        # some see no key.
        *(
            _fused(
                f"warpgroups_{number}", element, _GROUPED,
                ("b, g, i, k", "b, j, k", "b, j, n"), "b, i, g, n",
                _causal, _attention(element, _GROUPED, 2, _CAUSAL),
                ({"b": 2, "g": 3, "i": rows, "j": keys, "k": depth, "n": columns},),
                asks='family = "attention", layout = "rows", warpgroups = 2, warps = 8, '
                f"row_tiles = 1, key_warps = 1, keeps_queries = false, {asks}",
            )
            for number, (element, rows, keys, depth, columns, asks) in enumerate(
                (
                    ("bf16", 150, 300, 72, 136, "keys = 64, turns = true"),
                    ("f16", 300, 320, 64, 64, "keys = 32, tiles = 2"),
                    ("bf16", 130, 270, 40, 24, "keys = 48, tiles = 5, turns = true, stages = 3"),
                )
            )
        ),
        _fused(
            "warpgroups_window", "f16", _HEADS, ("h, i, k", "h, j, k", "h, j, n"), "h, i, n",
            _window, _attention("f16", _HEADS, 1, _WINDOW),
            ({"h": 2, "i": 420, "j": 200, "k": 64, "n": 64},),
            asks='family = "attention", layout = "rows", warpgroups = 2, warps = 8, '
            "row_tiles = 1, key_warps = 1, keeps_queries = false, keys = 64, tiles = 3",
        ),
        _fused(
            "window", "bf16", _HEADS, ("h, i, k", "h, j, k", "h, j, n"), "h, i, n",
            _window, _attention("bf16", _HEADS, 1, _WINDOW),
            ({"h": 1, "i": 150, "j": 140, "k": 8, "n": 9},),
        ),
        _fused(
            "plain", "f32", _GROUPED, ("b, g, i, k", "b, j, k", "b, j, n"), "b, i, g, n",
            _causal, _attention("f32", _GROUPED, 2, _CAUSAL),
            ({"b": 1, "g": 2, "i": 70, "j": 90, "k": 40, "n": 20},),
        ),
        _fused(
            "one_row", "f16", _ONE, ("h, k", "h, j, k", "h, j, n"), "h, n",
            _one_row,
            _attention("f16", _ONE, None, _PLAIN),
            ({"h": 3, "j": 300, "k": 32, "n": 16},),
        ),
        # Of open heads, rows and keys: keys of few rows are split, into parts by their number.
        _fused(
            "open", "bf16", _HEADS, ("h, i, k", "h, j, k", "h, j, n"), "h, i, n",
            _plain, _attention("bf16", _HEADS, 1, _PLAIN), (),
            tuple(
                {"h": heads, "i": rows, "j": keys, "k": 32, "n": 16}
                for heads, rows, keys in (
                    (3, 17, 40), (2, 5, 0), (0, 1, 9), (200, 1, 300), (1, 16, 900), (2, 3, 600),
                )
            ),
        ),
        # Warps that share keys, of which some have none to see, and combine what they find.
        *(
            _fused(
                f"together_{number}", element, _HEADS, ("h, i, k", "h, j, k", "h, j, n"), "h, i, n",
                _window if scores is _WINDOW else _plain,
                _attention(element, _HEADS, 1, scores),
                ({"h": 3, "i": rows, "j": keys, "k": 40, "n": 24},),
                asks=f'family = "attention", layout = "rows", row_tiles = 1, {asks}',
            )
            for number, (element, scores, rows, keys, asks) in enumerate(
                (
                    ("bf16", _PLAIN, 5, 300, "warps = 4, key_warps = 4, keys = 64"),
                    ("f16", _WINDOW, 40, 90, "warps = 8, key_warps = 2, keys = 32, stages = 3"),
                    ("bf16", _PLAIN, 16, 97, "warps = 4, key_warps = 4, keys = 64, parts = 3"),
                    ("f32", _PLAIN, 3, 130, "warps = 2, key_warps = 2, keys = 32, parts = 2"),
                    ("f32", _WINDOW, 33, 60, "warps = 4, key_warps = 2, keys = 64"),
                )
            )
        ),
        # Warps of f32 with several tiles of rows, some beyond the end, and a share of the keys.
        *(
            _fused(
                f"plain_tiles_{number}", "f32", _HEADS, ("h, i, k", "h, j, k", "h, j, n"),
                "h, i, n", _window if scores is _WINDOW else _plain,
                _attention("f32", _HEADS, 1, scores),
                ({"h": 2, "i": rows, "j": keys, "k": depth, "n": columns},),
                asks=f'family = "attention", layout = "rows", {asks}',
            )
            for number, (scores, rows, keys, depth, columns, asks) in enumerate(
                (
                    (_PLAIN, 150, 70, 20, 36, "warps = 2, row_tiles = 3, keys = 16, key_warps = 1"),
                    (_WINDOW, 130, 90, 64, 8, "warps = 4, row_tiles = 4, keys = 64, key_warps = 2"),
                    (_WINDOW, 61, 200, 12, 100, "warps = 4, keys = 64, key_warps = 4"),
                )
            )
        ),
        # Keys and values by the copy engine: parts, several places around, heads of odd sizes.
        *(
            _fused(
                f"engine_{number}", element, _GROUPED, ("b, g, i, k", "b, j, k", "b, j, n"),
                "b, i, g, n", _causal, _attention(element, _GROUPED, 2, _CAUSAL),
                ({"b": 3, "g": groups, "i": rows, "j": keys, "k": depth, "n": columns},),
                asks='family = "attention", layout = "rows", row_tiles = 1, keeps_queries = true, '
                f"engine = true, {asks}",
            )
            for number, (element, groups, rows, keys, depth, columns, asks) in enumerate(
                (
                    ("bf16", 7, 2, 300, 24, 40, "warps = 4, key_warps = 4, keys = 64"),
                    ("f16", 1, 1, 90, 128, 72, "warps = 2, key_warps = 2, keys = 64, stages = 3"),
                    ("bf16", 2, 9, 517, 64, 136, "warps = 4, key_warps = 4, keys = 64, parts = 3"),
                    ("f16", 3, 16, 40, 200, 16, "warps = 1, key_warps = 1, keys = 16, stages = 4"),
                )
            )
        ),
        _fused(
            "engine_open", "f16", _HEADS, ("h, i, k", "h, j, k", "h, j, n"), "h, i, n",
            _plain, _attention("f16", _HEADS, 1, _PLAIN), (),
            tuple(
                {"h": heads, "i": rows, "j": keys, "k": 128, "n": 64}
                for heads, rows, keys in (
                    (3, 17, 40), (2, 5, 0), (0, 1, 9), (40, 1, 300), (1, 16, 900),
                )
            ),
        ),
        # As before, of one row without a loop along rows, and a window that sees later keys alone.
        _fused(
            "engine_one_row", "f16", _ONE, ("h, k", "h, j, k", "h, j, n"), "h, n",
            _one_row,
            _attention("f16", _ONE, None, _PLAIN),
            ({"h": 3, "j": 300, "k": 32, "n": 16},),
            asks='family = "attention", layout = "rows", engine = true, warps = 2, key_warps = 2',
        ),
        _fused(
            "engine_window", "f16", _HEADS, ("h, i, k", "h, j, k", "h, j, n"), "h, i, n",
            _window, _attention("f16", _HEADS, 1, _WINDOW),
            ({"h": 3, "i": 16, "j": 90, "k": 40, "n": 24},),
            asks='family = "attention", layout = "rows", engine = true, warps = 4, key_warps = 4, '
            "keys = 64",
        ),
    ]
)  # fmt: skip


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


@pytest.mark.parametrize(
    ("count", "rows", "head", "warps", "key_warps", "row_tiles"),
    [
        (32, 128, 160, 8, 4, 1),  # 256 warps' rows in all, of a chip that has 528 warps at once.
        (32, 512, 160, 4, 1, 1),
        (256, 512, 192, 8, 1, 1),
        (64, 2048, 128, 4, 1, 2),
    ],
)
def test_warps_of_f32(
    count: int, rows: int, head: int, warps: int, key_warps: int, row_tiles: int
) -> None:
    heads = Heads(count, rows, rows, head, head, 4)
    made = configure(heads, device_of(["sm_90a"]))
    assert made is not None
    assert (made.warps, made.key_warps, made.row_tiles) == (warps, key_warps, row_tiles)


def test_checks_are_silent() -> None:
    SUITE.check_silence()

"""The general schedule of operations that reduce and scan: whatever they are, against torch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from schedules.harness import Suite
from schedules.kinds import (
    COMBINE,
    EXTREMES,
    FLOAT_KINDS,
    FLOAT_SCANS,
    INTEGER_EXTREMES,
    INTEGER_KINDS,
    fold,
    neutral,
    place,
)
from schedules.programs import Fused, Sizes, find_loops, reduce_loops, scan_loop
from torch.nn import functional


def moments(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    mean = x.mean(-1, keepdim=True)
    return mean, ((x - mean) ** 2).mean(-1, keepdim=True)


ROWS: tuple[Sizes, ...] = (
    {"r": 0, "c": 3},
    {"r": 2, "c": 0},
    {"r": 1, "c": 1},
    {"r": 7, "c": 13},
    {"r": 131, "c": 33},
    {"r": 3, "c": 1009},
)
FEW: tuple[Sizes, ...] = ({"r": 3, "c": 0}, {"r": 5, "c": 7}, {"r": 129, "c": 17})


def rows_of(element: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (f"{element}[r, c]",), (f"{element}[r, c]",)


def softmax(element: str) -> Fused:
    wide = "f64" if element == "f64" else "f32"
    is_narrow = element in ("f16", "bf16")
    body = f"%v = arith.extf %x0 : {element} to f32\n" if is_narrow else ""
    value = "%v" if is_narrow else "%x0"
    body += reduce_loops("%m", "maximumf", value, wide, 1)
    body += f"%d = arith.subf {value}, %m : {wide}\n%e = math.exp %d : {wide}\n"
    body += reduce_loops("%s", "addf", "%e", wide, 1)
    body += f"%q = arith.divf %e, %s : {wide}\n"
    body += f"%t = arith.truncf %q : f32 to {element}\n" if is_narrow else ""
    body += f"linalg.yield {'%t' if is_narrow else '%q'} : {element}"
    inputs, outputs = rows_of(element)
    return Fused(
        f"softmax_{element}",
        inputs,
        outputs,
        lambda x: functional.softmax(x, -1),
        ROWS,
        loops="r, c",
        reduced="c",
        body=body,
        special=True,
        fixed=({"r": 5, "c": 37},),
    )


def layer_norm() -> Fused:
    body = (
        "%n = arith.constant 0.0 : f32\n%one = arith.constant 1.0 : f32\n"
        + reduce_loops("%count", "addf", "%one", "f32", 1)
        + reduce_loops("%sum", "addf", "%x0", "f32", 1)
        + "%mean = arith.divf %sum, %count : f32\n"
        "%d = arith.subf %x0, %mean : f32\n%dd = arith.mulf %d, %d : f32\n"
        + reduce_loops("%squares", "addf", "%dd", "f32", 1)
        + "%var = arith.divf %squares, %count : f32\n%eps = arith.constant 1.0e-5 : f32\n"
        "%stable = arith.addf %var, %eps : f32\n%inv = math.rsqrt %stable : f32\n"
        "%norm = arith.mulf %d, %inv : f32\n%w = arith.mulf %norm, %x1 : f32\n"
        "%y = arith.addf %w, %x2 : f32\nlinalg.yield %mean, %y, %inv : f32, f32, f32"
    )

    def reference(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
        mean, variance = moments(x)
        scale = (variance + 1e-5).rsqrt()
        return [mean[..., 0], (x - mean) * scale * w + b, scale[..., 0]]

    return Fused(
        "layer_norm",
        ("f32[r, c]", "f32[c]", "f32[c]"),
        ("f32[r]", "f32[r, c]", "f32[r]"),
        reference,
        ROWS[2:],
        loops="r, c",
        reduced="c",
        body=body,
        magnitude=10.0,
    )


def kinds_of(element: str) -> Fused:
    """All reductions of an element type."""
    kinds = FLOAT_KINDS if element.startswith(("f", "b")) else INTEGER_KINDS
    body = "".join(
        reduce_loops(f"%v{number}", kind, "%x0", element, 1) for number, kind in enumerate(kinds)
    )
    values = ", ".join(f"%v{number}" for number in range(len(kinds)))
    body += f"linalg.yield {values} : {', '.join([element] * len(kinds))}"
    return Fused(
        f"kinds_{element}",
        (f"{element}[r, c]",),
        (f"{element}[r]",) * len(kinds),
        lambda x: [fold(kind, x, 1) for kind in kinds],
        FEW,
        loops="r, c",
        reduced="c",
        body=body,
        magnitude=100.0 if element in ("f16", "bf16") else 10.0,
        # Sums and products are rounded to the element type each time.
        tolerance=60.0 if element in ("f16", "bf16") else 10.0,
        special=element not in ("f16", "bf16"),
    )


def scans_of(element: str) -> Fused:
    """All scans of an element type, every second one in reverse, every third exclusive."""
    kinds = FLOAT_SCANS if element.startswith(("f", "b")) else INTEGER_KINDS
    body = "".join(
        scan_loop(
            f"%v{number}",
            kind,
            "%x0",
            element,
            1,
            *(["reverse"] if number % 2 else []),
            *(["exclusive"] if number % 3 == 1 else []),
        )
        for number, kind in enumerate(kinds)
    )
    values = ", ".join(f"%v{number}" for number in range(len(kinds)))
    body += f"linalg.yield {values} : {', '.join([element] * len(kinds))}"

    def reference(x: torch.Tensor) -> list[torch.Tensor]:
        return [
            scanned(kind, x, reverse=bool(number % 2), exclusive=number % 3 == 1)
            for number, kind in enumerate(kinds)
        ]

    return Fused(
        f"scans_{element}",
        (f"{element}[r, c]",),
        (f"{element}[r, c]",) * len(kinds),
        reference,
        FEW,
        loops="r, c",
        reduced="c",
        body=body,
        magnitude=10.0,
        tolerance=10.0,
    )


def scanned(
    kind: str, x: torch.Tensor, *, reverse: bool = False, exclusive: bool = False, dim: int = -1
) -> torch.Tensor:
    rows = list(x.flip(dim).unbind(dim) if reverse else x.unbind(dim))
    if not rows:
        return x.clone()
    running = torch.full_like(rows[0], neutral(kind, x.dtype))
    found: list[torch.Tensor] = []
    for row in rows:
        following = COMBINE[kind](running, row)
        found.append(running if exclusive else following)
        running = following
    result = torch.stack(found, dim)
    return result.flip(dim) if reverse else result


def places_of(element: str) -> Fused:
    """The extremes of a type and where they are."""
    kinds = EXTREMES if element.startswith(("f", "b")) else INTEGER_EXTREMES
    body = "".join(
        find_loops(f"%v{number}", f"%i{number}", kind, "%x0", element, 1)
        for number, kind in enumerate(kinds)
    )
    values = ", ".join(f"%v{number}, %i{number}" for number in range(len(kinds)))
    body += f"linalg.yield {values} : {', '.join([element, 'i64'] * len(kinds))}"
    return Fused(
        f"places_{element}",
        (f"{element}[r, c]",),
        (f"{element}[r]", "i64[r]") * len(kinds),
        lambda x: [each for kind in kinds for each in (fold(kind, x, 1), place(kind, x))],
        FEW,
        loops="r, c",
        reduced="c",
        body=body,
        special=True,
    )


def over(name: str, dims: str, reduced: str, order: str) -> Fused:
    """The sum over some loops of a buffer whose dims are the loops in another order."""
    loops = [each.strip() for each in dims.split(",")]
    gone = [loops.index(each.strip()) for each in reduced.split(",")]
    left = ", ".join(each for number, each in enumerate(loops) if number not in gone)
    axes = [each.strip() for each in order.split(",")]

    def reference(x: torch.Tensor) -> torch.Tensor:
        ordered = x.permute([axes.index(loop) for loop in loops])
        return ordered.sum(gone) if gone else ordered

    sizes: list[Sizes] = [
        dict(zip(loops, (3, 5, 2, 4, 3, 2), strict=False)),
        dict(zip(loops, (17, 2, 3, 1, 2, 3), strict=False)),
        dict(zip(loops, (2, 0, 3, 1, 2, 3), strict=False)),
    ]
    return Fused(
        name,
        (f"f32[{order}]",),
        (f"f32[{left}]",),
        reference,
        tuple(sizes),
        loops=dims,
        reduced=reduced,
        body=reduce_loops("%s", "addf", "%x0", "f32", *gone) + "linalg.yield %s : f32",
        magnitude=10.0,
    )


def _scans_and_reductions(x: torch.Tensor) -> list[torch.Tensor]:
    sums = (x - x.sum(1, keepdim=True)).cumsum(1)
    return [sums, fold("maximumf", sums, 1), scanned("addf", sums, exclusive=True)]


SUMS_OF_SCANS = Fused(
    "scans_and_reductions",
    ("f32[r, c]",),
    ("f32[r, c]", "f32[r]", "f32[r, c]"),
    _scans_and_reductions,
    FEW,
    loops="r, c",
    reduced="c",
    # A scan of what depends on a reduction, a reduction of that, and a scan of a scan.
    body=reduce_loops("%m", "addf", "%x0", "f32", 1)
    + "%d = arith.subf %x0, %m : f32\n"
    + scan_loop("%p", "addf", "%d", "f32", 1)
    + reduce_loops("%top", "maximumf", "%p", "f32", 1)
    + scan_loop("%pp", "addf", "%p", "f32", 1, "exclusive")
    + "linalg.yield %p, %top, %pp : f32, f32, f32",
    magnitude=1e5,
)


BOTH_WAYS = Fused(
    "both_ways",
    ("f32[r, c]",),
    ("f32[r, c]",),
    lambda x: x.cumsum(1) * x.flip(1).cumsum(1).flip(1),
    FEW,
    loops="r, c",
    reduced="c",
    body=scan_loop("%p", "addf", "%x0", "f32", 1)
    + scan_loop("%q", "addf", "%x0", "f32", 1, "reverse")
    + "%y = arith.mulf %p, %q : f32\nlinalg.yield %y : f32",
    magnitude=100.0,
)

TABLE_OF_SUMS = Fused(
    "table_of_sums",
    ("f32[r, c]",),
    ("f32[r, c]", "f32[r]"),
    lambda x: [x.cumsum(0).cumsum(1), x.cumsum(0).sum(1)],
    FEW,
    loops="r, c",
    reduced="r, c",
    body=scan_loop("%p", "addf", "%x0", "f32", 0)
    + scan_loop("%q", "addf", "%p", "f32", 1)
    + reduce_loops("%s", "addf", "%p", "f32", 1)
    + "linalg.yield %q, %s : f32, f32",
    magnitude=100.0,
)

CROSS_ENTROPY = Fused(
    "cross_entropy",
    ("f32[r, c]", "i64[r]"),
    ("f32[r]",),
    lambda x, t: functional.cross_entropy(x, t, reduction="none"),
    ({"r": 1, "c": 1}, {"r": 5, "c": 7}, {"r": 131, "c": 19}),
    ranges={1: "c"},
    loops="r, c",
    reduced="c",
    # The logit of the target is picked by its index.
    body=reduce_loops("%m", "maximumf", "%x0", "f32", 1)
    + "%d = arith.subf %x0, %m : f32\n%e = math.exp %d : f32\n"
    + reduce_loops("%s", "addf", "%e", "f32", 1)
    + "%log = math.log %s : f32\n%c = linalg.index 1 : index\n"
    "%i = arith.index_cast %c : index to i64\n"
    "%is = arith.cmpi eq, %i, %x1 : i64\n"
    "%picked = scf.if %is -> (f32) {\n%l = arith.subf %log, %d : f32\nscf.yield %l : f32\n"
    "} else {\n%z = arith.constant 0.0 : f32\nscf.yield %z : f32\n}\n"
    + reduce_loops("%loss", "addf", "%picked", "f32", 1)
    + "linalg.yield %loss : f32",
)

GATHER = Fused(
    "gather",
    ("i64[r]", "f32[c]"),
    ("f32[r, c]", "f32[r]"),
    lambda i, b, table, k: [
        functional.softmax(table[i] * k + b, -1),
        (table[i] * k + b).sum(-1),
    ],
    ({"r": 5, "c": 7, "v": 11}, {"r": 131, "c": 3, "v": 1000}),
    ranges={0: "v"},
    loops="r, c",
    reduced="c",
    captured=("f32[v, c]", "f32"),
    body="%row = arith.index_cast %x0 : i64 to index\n%c = linalg.index 1 : index\n"
    "%t = memref.load %cap0[%row, %c] : CAP0\n%k = arith.mulf %t, %cap1 : f32\n"
    "%v = arith.addf %k, %x1 : f32\n"
    + reduce_loops("%m", "maximumf", "%v", "f32", 1)
    + "%d = arith.subf %v, %m : f32\n%e = math.exp %d : f32\n"
    + reduce_loops("%s", "addf", "%e", "f32", 1)
    + reduce_loops("%all", "addf", "%v", "f32", 1)
    + "%q = arith.divf %e, %s : f32\nlinalg.yield %q, %all : f32, f32",
    magnitude=10.0,
)

WINDOW = Fused(
    "window",
    ("f32[c * 2 + k]", "f32[k]"),
    ("f32[c]",),
    lambda x, w: functional.conv1d(x[None, None], w[None, None], stride=2)[0, 0],
    ({"c": 1, "k": 1}, {"c": 37, "k": 5}, {"c": 300, "k": 3}),
    loops="c, k",
    reduced="k",
    body="%p = arith.mulf %x0, %x1 : f32\n"
    + reduce_loops("%s", "addf", "%p", "f32", 1)
    + "linalg.yield %s : f32",
    magnitude=10.0,
)

UNIFORM = Fused(
    "uniform_values",
    ("f32[r]", "f32"),
    ("f32[r]", "f32[r]", "f32[r, c]"),
    lambda w, k, shape: [w * shape.shape[0], torch.full_like(w, k), w[:, None] + 0 * shape],
    FEW,
    loops="r, c",
    reduced="c",
    captured=("f32[c]",),
    body=reduce_loops("%s", "addf", "%x0", "f32", 1) + "linalg.yield %s, %x1, %x0 : f32, f32, f32",
    magnitude=10.0,
)

FULL = Fused(
    "full",
    ("f32[r, c]",),
    ("f32[]", "i64[]"),
    lambda x: [x.sum(), place("maximumf", x.reshape(1, -1))[0]],
    (*FEW, {"r": 1, "c": 4099}),
    loops="r, c",
    reduced="r, c",
    body=reduce_loops("%s", "addf", "%x0", "f32", 0, 1)
    + find_loops("%v", "%i", "maximumf", "%x0", "f32", 0, 1)
    + "linalg.yield %s, %i : f32, i64",
    magnitude=300.0,
)

PROGRAMS: Sequence[Fused] = [
    *(softmax(element) for element in ("f64", "f32", "f16", "bf16")),
    layer_norm(),
    *(kinds_of(element) for element in ("f64", "f32", "f16", "bf16", "i64", "i32", "i8", "i1")),
    *(scans_of(element) for element in ("f32", "i16")),
    *(places_of(element) for element in ("f64", "f32", "f16", "i64", "i8")),
    over("middle", "a, b, c", "b", "a, b, c"),
    over("outer", "a, b, c", "a", "c, b, a"),
    over("ends", "a, b, c", "a, c", "a, b, c"),
    over("many_dims", "a, b, c, d, e, f", "b, e", "e, a, f, c, b, d"),
    SUMS_OF_SCANS,
    BOTH_WAYS,
    TABLE_OF_SUMS,
    CROSS_ENTROPY,
    GATHER,
    WINDOW,
    UNIFORM,
    FULL,
]

SUITE = Suite(PROGRAMS, floor=True)


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence(("layer_norm", "scans_f32", "places_f16", "table_of_sums", "gather"))

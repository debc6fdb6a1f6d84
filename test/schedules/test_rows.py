"""Programs that the row schedule takes, against torch in float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Fused, Reference, Sizes, find_loops, reduce_loops

# Rows of nothing, of one element, about a warp's, primes, and just past what a block's threads take
# at once.
_SIZES: tuple[Sizes, ...] = (
    {"r": 0, "c": 8},
    {"r": 3, "c": 0},
    {"r": 1, "c": 1},
    {"r": 7, "c": 2},
    {"r": 33, "c": 31},
    {"r": 5, "c": 32},
    {"r": 5, "c": 33},
    {"r": 7, "c": 129},
    {"r": 3, "c": 1000},
    {"r": 3, "c": 1009},
    {"r": 1, "c": 4096},
    {"r": 2, "c": 4099},
)
# What clusters take, and what nothing holds.
_LONG: tuple[Sizes, ...] = (
    {"r": 1, "c": 20000},
    {"r": 2, "c": 32771},
    {"r": 1, "c": 140004},
    {"r": 1, "c": 70000},
)
# The longest that lanes of a warp share, and one more.
_SHORT: tuple[Sizes, ...] = ({"r": 9, "c": 512}, {"r": 9, "c": 516}, {"r": 5, "c": 513})
_FIXED: tuple[Sizes, ...] = (
    {"r": 9, "c": 24},
    {"r": 3, "c": 768},
    {"r": 2, "c": 1009},
    {"r": 2, "c": 5000},
)
# Where a type's own code is the subject: each is a kernel or two, open sizes are tens of them.
_CLOSED: tuple[Sizes, ...] = (_SIZES[1], _SIZES[4], *_SIZES[7:])


def _softmax(element: str, sizes: Sequence[Sizes], fixed: Sequence[Sizes], name: str) -> Fused:
    wide = "f64" if element == "f64" else "f32"
    is_same = element == wide
    extended = "" if is_same else f"%w = arith.extf %x0 : {element} to {wide}\n"
    value = "%x0" if is_same else "%w"
    body = extended + reduce_loops("%m", "maximumf", value, wide, 1)
    body += f"%d = arith.subf {value}, %m : {wide}\n%e = math.exp %d : {wide}\n"
    body += reduce_loops("%s", "addf", "%e", wide, 1)
    body += f"%q = arith.divf %e, %s : {wide}\n"
    if is_same:
        body += f"linalg.yield %q : {element}"
    else:
        body += f"%t = arith.truncf %q : {wide} to {element}\nlinalg.yield %t : {element}"
    return Fused(
        name,
        (f"{element}[r, c]",),
        (f"{element}[r, c]",),
        lambda x: torch.softmax(x, 1),
        tuple(sizes),
        special=name == "softmax_f32",
        fixed=tuple(fixed),
        loops="r, c",
        reduced="c",
        body=body,
    )


_NORM = (
    reduce_loops("%s", "addf", "%x0", "f32", 1)
    + "%mean = arith.divf %s, %x3 : f32\n%d = arith.subf %x0, %mean : f32\n"
    + "%dd = arith.mulf %d, %d : f32\n"
    + reduce_loops("%ss", "addf", "%dd", "f32", 1)
    + "%v = arith.divf %ss, %x3 : f32\n%eps = arith.constant 1.0e-5 : f32\n"
    + "%ve = arith.addf %v, %eps : f32\n%rs = math.rsqrt %ve : f32\n"
    + "%n = arith.mulf %d, %rs : f32\n%ng = arith.mulf %n, %x1 : f32\n"
    + "%y = arith.addf %ng, %x2 : f32\nlinalg.yield %y, %mean, %rs : f32, f32, f32"
)


def _norm(
    x: torch.Tensor, g: torch.Tensor, b: torch.Tensor, n: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    mean = x.sum(1) / n
    d = x - mean[:, None]
    scale = ((d * d).sum(1) / n + 1e-5).rsqrt()
    return d * scale[:, None] * g + b, mean, scale


def _sum(name: str, inputs: str, outputs: str, loops: str, reduced: str, *dims: int) -> Fused:
    return Fused(
        name,
        (inputs,),
        (outputs,),
        lambda x: x.sum(dims),
        (
            {"a": 3, "b": 5, "c": 36},
            {"a": 2, "b": 33, "c": 64},
            {"a": 0, "b": 3, "c": 4},
            {"a": 4, "b": 3, "c": 131},
        ),
        magnitude=64,
        fixed=({"a": 3, "b": 4, "c": 20},),
        loops=loops,
        reduced=reduced,
        body=reduce_loops("%s", "addf", "%x0", "f32", *dims) + "linalg.yield %s : f32",
    )


def _kind(
    kind: str,
    element: str,
    reference: Reference,
    sizes: Sequence[Sizes] = _SIZES,
    fixed: Sequence[Sizes] = (),
) -> Fused:
    return Fused(
        f"{kind}_{element}",
        (f"{element}[r, c]",),
        (f"{element}[r]",),
        reference,
        tuple(sizes),
        special=element == "f32" and kind != "addf",
        magnitude=128 if kind == "addf" else 0,
        fixed=_FIXED if element == "f32" else tuple(fixed),
        loops="r, c",
        reduced="c",
        body=reduce_loops("%s", kind, "%x0", element, 1) + f"linalg.yield %s : {element}",
    )


def _argmax(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if x.shape[1] == 0:
        return torch.full(x.shape[:1], -torch.inf), torch.zeros(x.shape[0], dtype=torch.int64)
    found = x.max(1)
    return found.values, (x == found.values[:, None]).int().argmax(1)


def _cross_entropy(x: torch.Tensor, target: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    taken = logits.gather(1, target.long()[:, None])[:, 0]
    return x.logsumexp(1) - taken


def _greatest(x: torch.Tensor) -> torch.Tensor:
    return x.amax(1) if x.shape[1] else torch.full(x.shape[:1], -torch.inf)


SUITE = Suite(
    [
        _softmax("f32", (*_SIZES, *_SHORT, *_LONG), (*_FIXED, _LONG[1]), "softmax_f32"),
        _softmax("bf16", (*_SIZES[4:], *_SHORT, *_LONG[1:]), _FIXED, "softmax_bf16"),
        _softmax("f16", (), _SIZES[7:10], "softmax_f16"),
        _softmax("f64", (), (*_FIXED, *_SIZES[6:9], *_SIZES[10:]), "softmax_f64"),
        # Its kernels of open sizes would be a quarter of all that is here: what they are made of is
        # in the softmax, and in `centered` what stands beside the rows.
        # In passes, of rows that turn out to be short, and of few long ones.
        replace(
            _softmax("f32", (*_SIZES[1:], _LONG[3]), (_LONG[3],), "softmax_in_passes"),
            asks='family = "rows", kernel = "split", blocks = 1, merged = false, vectors = 2',
        ),
        Fused(
            "norm",
            ("f32[r, c]", "f32[c]", "f32[c]", "f32"),
            ("f32[r, c]", "f32[r]", "f32[r]"),
            _norm,
            (),
            magnitude=512,
            fixed=(*_FIXED, _SIZES[7], _SIZES[11], _LONG[0], _LONG[2]),
            loops="r, c",
            reduced="c",
            body=_NORM,
        ),
        Fused(
            "centered",
            ("f32[r, c]", "f32[c]", "f32"),
            ("f32[r, c]", "f32[r]"),
            lambda x, g, n: ((x - (x.sum(1) / n)[:, None]) * g, x.sum(1) / n),
            (*_SIZES[2:], _LONG[0], _LONG[2]),
            magnitude=512,
            fixed=_FIXED[:1],
            loops="r, c",
            reduced="c",
            body=reduce_loops("%s", "addf", "%x0", "f32", 1)
            + "%mean = arith.divf %s, %x2 : f32\n%d = arith.subf %x0, %mean : f32\n"
            + "%y = arith.mulf %d, %x1 : f32\nlinalg.yield %y, %mean : f32, f32",
        ),
        Fused(
            "argmax",
            ("f32[r, c]",),
            ("f32[r]", "i64[r]"),
            _argmax,
            (*_SIZES, _LONG[1]),
            fixed=_FIXED,
            loops="r, c",
            reduced="c",
            body=find_loops("%m", "%i", "maximumf", "%x0", "f32", 1)
            + "linalg.yield %m, %i : f32, i64",
        ),
        Fused(
            "cross_entropy",
            ("f32[r, c]", "i64[r]"),
            ("f32[r]",),
            _cross_entropy,
            (*_SIZES[2:], _LONG[1]),
            ranges={1: "c"},
            fixed=_FIXED,
            loops="r, c",
            reduced="c",
            captured=("f32[r, c]",),
            body=reduce_loops("%m", "maximumf", "%x0", "f32", 1)
            + "%d = arith.subf %x0, %m : f32\n%e = math.exp %d : f32\n"
            + reduce_loops("%s", "addf", "%e", "f32", 1)
            + "%l = math.log %s : f32\n%r = linalg.index 0 : index\n"
            + "%t = arith.index_cast %x1 : i64 to index\n"
            + "%xt = memref.load %cap0[%r, %t] : CAP0\n%z = arith.subf %xt, %m : f32\n"
            + "%y = arith.subf %l, %z : f32\nlinalg.yield %y : f32",
        ),
        _kind("addf", "f32", lambda x: x.sum(1), (*_SIZES, *_SHORT, *_LONG)),
        _kind("maximumf", "f32", _greatest),
        # How sums of open sizes become kernels is the same for all types; f64's rows of open sizes
        # are in the shares of planes.
        _kind("addf", "f64", lambda x: x.sum(1), (), _CLOSED),
        _kind("addi", "i32", lambda x: x.sum(1), (), _CLOSED),
        _kind("maxsi", "i8", lambda x: x.amax(1), _SIZES[2:]),
        _sum("sum_all", "f32[a, b, c]", "f32[]", "a, b, c", "a, b, c", 0, 1, 2),
        _sum("sum_outer_inner", "f32[a, b, c]", "f32[b]", "a, b, c", "a, c", 0, 2),
        Fused(
            "shares_of_planes",
            ("f64[a, b, c]", "bf16[a, c]"),
            ("bf16[a, b, c]",),
            lambda x, y: (x * y[:, None]) / x.abs().sum((0, 2))[:, None],
            (
                {"a": 3, "b": 5, "c": 11},
                {"a": 3, "b": 5, "c": 36},
                {"a": 4, "b": 3, "c": 131},
                {"a": 2, "b": 2, "c": 1009},
                {"a": 2, "b": 1, "c": 9000},
            ),
            fixed=({"a": 3, "b": 4, "c": 40},),
            loops="a, b, c",
            reduced="a, c",
            body="%abs = math.absf %x0 : f64\n"
            + reduce_loops("%s", "addf", "%abs", "f64", 0, 2)
            + "%w = arith.extf %x1 : bf16 to f64\n%p = arith.mulf %x0, %w : f64\n"
            + "%q = arith.divf %p, %s : f64\n%t = arith.truncf %q : f64 to bf16\n"
            + "linalg.yield %t : bf16",
        ),
        # Quotients of numbers of any size, with infinities and zeros.
        Fused(
            "quotients",
            ("f32[r, c]",),
            ("f32[r, c]",),
            lambda x: x / x[:, :1].expand_as(x) if x.shape[1] else x,
            (),
            special=True,
            fixed=({"r": 300, "c": 33}, {"r": 9, "c": 1000}, {"r": 3, "c": 5001}),
            loops="r, c",
            reduced="c",
            body="%c = linalg.index 1 : index\n%zero = arith.constant 0 : index\n"
            + "%is = arith.cmpi eq, %c, %zero : index\n%none = arith.constant 0xFF800000 : f32\n"
            + "%first = arith.select %is, %x0, %none : f32\n"
            + reduce_loops("%s", "maximumf", "%first", "f32", 1)
            + "%q = arith.divf %x0, %s : f32\nlinalg.yield %q : f32",
        ),
    ],
    # Unrolled code takes long to optimise.
    flags=["-O0"],
)


def _staged(element: str, length: int, wide: str = "f32") -> Fused:
    """Rows that pass through shared memory: of a block, one less and more, and of several."""
    is_same = element == wide
    given = "%x0" if is_same else "%w"
    body = "" if is_same else f"%w = arith.extf %x0 : {element} to {wide}\n"
    body += f"%r = arith.extf %x1 : bf16 to {wide}\n%a = arith.addf {given}, %r : {wide}\n"
    body += reduce_loops("%s", "addf", "%a", wide, 1)
    body += f"%d = arith.subf %a, %s : {wide}\n%q = arith.mulf %d, %d : {wide}\n"
    body += reduce_loops("%v", "addf", "%q", wide, 1)
    body += f"%p = arith.mulf %d, %x2 : {wide}\n%m = arith.addf %p, %v : {wide}\n"
    if not is_same:
        body += f"%t = arith.truncf %m : {wide} to {element}\n"
    result = "%m" if is_same else "%t"
    body += f"linalg.yield {result}, %d, %v : {element}, {wide}, {wide}"

    def reference(x: torch.Tensor, y: torch.Tensor, g: torch.Tensor) -> list[torch.Tensor]:
        both = x + y
        less = both - both.sum(1)[:, None]
        return [less * g + less.square().sum(1)[:, None], less, less.square().sum(1)]

    return Fused(
        f"staged_{element}_{length}",
        (f"{element}[r, c]", "bf16[r, c]", f"{wide}[c]"),
        (f"{element}[r, c]", f"{wide}[r, c]", f"{wide}[r]"),
        reference,
        tuple({"r": rows, "c": length} for rows in (1, 31, 127, 128, 129, 515)),
        magnitude=length**3,
        fixed=({"r": 256, "c": length}, {"r": 133, "c": length}),
        loops="r, c",
        reduced="c",
        body=body,
        asks='family = "rows", staged = true',
        known={"c": length},
    )


# A thread and some lanes a row, of vectors and of elements; rows that end anywhere in a piece.
STAGED = Suite(
    [
        _staged("f32", 14),
        _staged("f32", 7),
        _staged("f32", 57),
        _staged("bf16", 13),
        _staged("bf16", 101),
        _staged("f64", 6, "f64"),
    ],
    flags=["-O0"],
)


@pytest.mark.parametrize("name", STAGED.names)
def test_staged(name: str) -> None:
    STAGED.check(name)


def test_checks_of_staged_rows_are_silent() -> None:
    STAGED.check_silence(["staged_f32_7"], closed=["staged_bf16_13"])


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


def test_checks_are_silent() -> None:
    # One of each kind of kernel: the checks take long to compile. Of open sizes, rows that are kept
    # and streamed are in the softmax.
    SUITE.check_silence(["softmax_bf16", "argmax", "cross_entropy", "sum_all"], closed=["norm"])

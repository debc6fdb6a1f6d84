"""Products whose weights a program dequantises, against torch in float64, on the CPU device.

Kernels compute the weights where they read them; of near misses another kernel does, before.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import hirc

_BF16, _F16 = torch.bfloat16, torch.float16
# Half a unit in the last place of the results, and what sums of f32 add.
_ERRORS = {_BF16: 2.0**-8, _F16: 2.0**-10, torch.float32: 2.0**-18}
_SHIFTS = torch.arange(0, 32, 4, dtype=torch.int32)


class _Products:
    """What programs multiply rows by columns with: where they are the reference, in float64."""

    are_exact = False


def _product(x: Tensor, w: Tensor) -> Tensor:
    return x.double() @ w.double() if _Products.are_exact else x @ w


def _integers(dtype: torch.dtype, *shape: int) -> Tensor:
    limits = torch.iinfo(dtype)
    return torch.randint(limits.min, limits.max, shape, dtype=dtype)


def _rows(m: int, k: int, dtype: torch.dtype = _BF16) -> Tensor:
    return torch.randn(m, k).to(dtype)


def _scales(*shape: int, dtype: torch.dtype = _BF16) -> Tensor:
    return (torch.rand(*shape) * 0.2 + 0.01).to(dtype)


def _i8(dtype: torch.dtype, m: int, n: int, k: int) -> tuple[Tensor, ...]:
    return _rows(m, k, dtype), _integers(torch.int8, n, k), _scales(n, 1, dtype=dtype)


def _by_row(x: Tensor, w: Tensor, s: Tensor) -> Tensor:
    return _product(x, (w.to(x.dtype) * s).t())


def _by_group(x: Tensor, w: Tensor, s: Tensor, z: Tensor) -> Tensor:
    groups = w.view(w.shape[0], s.shape[1], -1)
    return _product(x, ((groups.to(x.dtype) - z.to(x.dtype)) * s).view_as(w).t())


def _nibbles(x: Tensor, w: Tensor, s: Tensor) -> Tensor:
    n, k = w.shape[0], 2 * w.shape[1]
    quants = torch.stack([w & 15, w >> 4], -1).view(n, s.shape[1], -1)
    return _product(x, ((quants.to(x.dtype) - 8) * s).view(n, k).t())


def _quarters(x: Tensor, w: Tensor, s: Tensor) -> Tensor:
    parts = torch.stack([w & 3, (w >> 2) & 3, (w >> 4) & 3, w >> 6], -1)
    return _product(x, (parts.view(w.shape[0], -1).to(x.dtype) * s).t())


def _words_of_terms(x: Tensor, w: Tensor, s: Tensor, z: Tensor) -> Tensor:
    """Words have eight terms of a column each; a zero of a group those of eight columns."""
    groups, _, n = s.shape
    quants = ((w.unsqueeze(1) >> _SHIFTS.view(1, 8, 1)) & 15).view(groups, -1, n)
    zeros = ((z.unsqueeze(2) >> _SHIFTS) & 15).view(groups, 1, n)
    return _product(x, ((quants - zeros).to(x.dtype) * s).view(-1, n))


def _words_of_columns(x: Tensor, w: Tensor, s: Tensor) -> Tensor:
    quants = ((w.unsqueeze(2) >> _SHIFTS) & 15).view(w.shape[0], -1)
    return _product(x, (quants.to(x.dtype) - 8) * s)


def _word_inputs() -> tuple[Tensor, ...]:
    return (
        *(_rows(64, 512), _integers(torch.int32, 64, 512)),
        *(_scales(4, 1, 512), _integers(torch.int32, 4, 64)),
    )


# Each number of inputs is listed for the type checker to know what a lambda takes.
_Program = (
    Callable[[Tensor, Tensor], Any]
    | Callable[[Tensor, Tensor, Tensor], Any]
    | Callable[[Tensor, Tensor, Tensor, Tensor], Any]
)
_Case = tuple[_Program, Callable[[], tuple[Tensor, ...]]]

_COMPUTED: dict[str, _Case] = {
    "f16": (_by_row, lambda: _i8(_F16, 19, 520, 512)),
    "odd columns": (_by_row, lambda: _i8(_BF16, 100, 333, 512)),
    "odd steps": (
        lambda x, w, s: _product(x, (w.to(_BF16) / s).t()),
        lambda: _i8(_BF16, 77, 400, 520),
    ),
    "nothing beyond the last term": (
        lambda x, w: _product(x, torch.log(w.to(_BF16)).abs().t()),
        lambda: (_rows(200, 72), _integers(torch.uint8, 512, 72) | 1),
    ),
    "few terms": (
        lambda x, w: _product(x, (w.to(_BF16) + 0.5).t()),
        lambda: (_rows(500, 24), _integers(torch.int8, 512, 24)),
    ),
    "columns together": (
        lambda x, w, s: _product(x, w.to(_BF16) * s),
        lambda: (_rows(64, 512), _integers(torch.int8, 512, 640), _scales(640)),
    ),
    "groups and zeros": (
        _by_group,
        lambda: (
            *(_rows(33, 512), _integers(torch.uint8, 384, 512)),
            *(_scales(384, 4, 1), _integers(torch.uint8, 384, 4, 1)),
        ),
    ),
    "groups of columns together": (
        lambda x, w, s: _product(x, (w.view(4, 128, -1).to(_BF16) * s).view(512, -1)),
        lambda: (_rows(33, 512), _integers(torch.uint8, 512, 648), _scales(4, 1, 648)),
    ),
    "nibbles": (
        _nibbles,
        lambda: (_rows(64, 512), _integers(torch.uint8, 520, 256), _scales(520, 4, 1)),
    ),
    "quarters": (
        _quarters,
        lambda: (_rows(40, 512), _integers(torch.uint8, 512, 128), _scales(512, 1)),
    ),
    "words of terms": (_words_of_terms, _word_inputs),
    "words of columns": (
        _words_of_columns,
        lambda: (_rows(64, 512), _integers(torch.int32, 512, 64), _scales(1, 512)),
    ),
    "halves side by side": (
        lambda x, w, s: _product(x, ((torch.cat([w & 15, w >> 4], 1).to(_BF16) - 8) * s).t()),
        lambda: (_rows(64, 512), _integers(torch.uint8, 512, 256), _scales(512, 1)),
    ),
    "halves of groups": (
        lambda x, w, s: _product(
            x,
            ((torch.cat([w & 15, w >> 4], 1).to(_BF16).view(512, 4, -1) - 8) * s).view(512, -1).t(),
        ),
        lambda: (_rows(64, 512), _integers(torch.uint8, 512, 256), _scales(512, 4, 1)),
    ),
    "halves above one another": (
        lambda x, w, s: _product(x, (torch.cat([w >> 4, w & 15], 0).to(_BF16) * s).t()),
        lambda: (_rows(64, 512), _integers(torch.uint8, 260, 512), _scales(520, 1)),
    ),
    "f8E4M3": (
        _by_row,
        lambda: (_rows(64, 512), torch.randn(512, 512).to(torch.float8_e4m3fn), _scales(512, 1)),
    ),
    "f8E5M2": (
        lambda x, w: _product(x, w.to(_BF16).t()),
        lambda: (_rows(64, 512), torch.randn(512, 512).to(torch.float8_e5m2)),
    ),
    "both f32": (
        lambda x, w: _product(x.to(_BF16), w.to(_BF16).t()),
        lambda: (torch.randn(64, 512), torch.randn(512, 512)),
    ),
    "f32 by columns": (
        lambda x, w: _product(x.to(_BF16), w.to(_BF16)),
        lambda: (torch.randn(64, 512), torch.randn(512, 512)),
    ),
    "f64": (
        lambda x, w: _product(x, w.to(_BF16).t()),
        lambda: (_rows(64, 512), torch.randn(512, 512).double()),
    ),
    "a mask": (
        lambda x, w, m: _product(x, torch.where(m, w, 0.0).t()),
        lambda: (_rows(64, 512), _rows(512, 512), torch.rand(512, 512) > 0.5),
    ),
    "a sum": (
        lambda x, w, v: _product(x, (w + v).t()),
        lambda: (_rows(64, 512), _rows(512, 512), _rows(512, 512)),
    ),
    "scales of terms": (
        lambda x, w, s: _product(x, (w * s).t()),
        lambda: (_rows(64, 512), _rows(512, 512), _scales(1, 512)),
    ),
    "the first factor": (
        lambda w, s, x: _product(w.to(_BF16) * s, x.t()),
        lambda: (_integers(torch.int8, 512, 512), _scales(512, 1), _rows(64, 512)),
    ),
    "both factors": (
        lambda x, t, w, s: _product(x.to(_BF16) * t, (w.to(_BF16) * s).t()),
        lambda: (
            *(_integers(torch.int8, 64, 512), _scales(64, 1)),
            *(_integers(torch.int8, 512, 512), _scales(512, 1)),
        ),
    ),
    "bias and activation": (
        lambda x, w, s, b: functional.silu(_product(x, (w.to(_BF16) * s).t()) + b),
        lambda: (*_i8(_BF16, 64, 512, 512), _scales(512)),
    ),
    "rows of two loops": (
        lambda x, w, s: _product(x, (w.to(_BF16) * s).t()),
        lambda: (torch.randn(4, 16, 512).to(_BF16), *_i8(_BF16, 1, 512, 512)[1:]),
    ),
}

_APART: dict[str, _Case] = {
    "needed otherwise": (
        lambda x, w, s: (_product(x, (d := w.to(_BF16) * s).t()), d),
        lambda: _i8(_BF16, 64, 512, 512),
    ),
    "what ends another product": (
        lambda x, w, v: _product(_product(x, w).to(_BF16).relu() * 0.5, v),
        lambda: (_rows(64, 512), _rows(512, 256), _rows(256, 512)),
    ),
    "two products": (
        lambda x, y, w, s: (_product(x, (d := w.to(_BF16) * s).t()), _product(y, d.t())),
        lambda: (_rows(64, 512), *_i8(_BF16, 80, 512, 512)),
    ),
    "a reduction": (
        lambda x, w: _product(x, (w / w.float().square().mean(-1, True).sqrt().to(_BF16)).t()),
        lambda: (_rows(64, 512), _rows(512, 512)),
    ),
    "terms that are no units": (_by_row, lambda: _i8(_BF16, 64, 512, 515)),
    "columns that are no units": (
        lambda x, w, s: _product(x, w.to(_BF16) * s),
        lambda: (_rows(64, 512), _integers(torch.int8, 512, 333), _scales(333)),
    ),
    "many rows": (_by_row, lambda: _i8(_BF16, 4096, 512, 512)),
    "a batch": (
        lambda x, w: _product(x, w.to(_BF16)),
        lambda: (torch.randn(4, 64, 256).to(_BF16), _integers(torch.int8, 4, 256, 256)),
    ),
    "f32": (
        lambda x, w, s: _product(x, (w.float() * s).t()),
        lambda: (torch.randn(64, 512), *_i8(torch.float32, 1, 512, 512)[1:]),
    ),
    "parts of two sizes": (
        lambda x, w, v, s: _product(x, (torch.cat([w, v], 1).to(_BF16) * s).t()),
        lambda: (
            *(_rows(64, 512), _integers(torch.int8, 512, 384)),
            *(_integers(torch.int8, 512, 128), _scales(512, 1)),
        ),
    ),
}


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What products were made of that compute their factors."""
    from hirc.pipelines.passes import form_contractions

    found: list[Any] = []
    compute = form_contractions.compute_factors

    def computing(made: Any) -> Any:
        found.append(made)
        return compute(made)

    monkeypatch.setattr(form_contractions, "compute_factors", computing)
    return found


def _check(program: _Program, inputs: tuple[Tensor, ...], **options: Any) -> None:
    given: dict[str, Any] = {"products": "own", "schedules": "tuned", "opt_level": 0, **options}
    compiled: Any = hirc.compile(program, inputs, target="cpu", cache=False, **given)
    got, expected = compiled(*inputs), _expected(program, inputs)
    for one, other in zip(_listed(got), expected, strict=True):
        scale = other.square().mean().sqrt()
        near = (one.double() - other).abs() <= _ERRORS[one.dtype] * (other.abs() + scale)
        assert bool(near.all()), (one[~near][:4], other[~near][:4])


def _expected(program: _Program | torch.nn.Module, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Returns what a program gives of products in float64 of factors as torch makes them."""
    _Products.are_exact = True
    try:
        return [each.double() for each in _listed(cast(Callable[..., Any], program)(*inputs))]
    finally:
        _Products.are_exact = False


def _listed(found: Any) -> list[Tensor]:
    return [found] if isinstance(found, Tensor) else list(found)


@pytest.mark.parametrize("name", _COMPUTED)
def test_computed(name: str, computed: list[Any]) -> None:
    torch.manual_seed(0)
    program, inputs = _COMPUTED[name]
    _check(program, inputs())
    assert len(computed) == 1


@pytest.mark.parametrize("name", _APART)
def test_apart(name: str, computed: list[Any]) -> None:
    torch.manual_seed(0)
    program, inputs = _APART[name]
    _check(program, inputs())
    assert not computed


@pytest.mark.parametrize("name", ["odd columns", "groups and zeros", "nibbles", "words of terms"])
def test_checks_are_silent(name: str) -> None:
    torch.manual_seed(0)
    program, inputs = _COMPUTED[name]
    _check(program, inputs(), checks=("race", "memory"))


@pytest.mark.parametrize("seed", range(16))
def test_drawn(seed: int, computed: list[Any]) -> None:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    m, n = draw.randint(17, 300), draw.choice((256, 264, 509, 640))
    groups, each = draw.choice(((1, 512), (4, 128), (9, 64), (33, 32), (65, 8)))
    n = max(n, (1 << 22) // (m * groups * each) + 1)
    is_packed, has_zeros, by_column = (draw.random() < 0.4 for _ in range(3))
    if by_column:
        n = -(-n // 16) * 16
    dtype = draw.choice((_BF16, _F16))
    size = (groups, each, n) if by_column else (n, groups, each)
    shape = (groups, 1, n) if by_column else (n, groups, 1)
    scales = _scales(*shape, dtype=dtype)
    zeros = _integers(torch.uint8, *shape)
    stored = (*size[:-1], size[-1] // 2) if is_packed else size
    weights = _integers(draw.choice((torch.uint8, torch.int8)), *stored)

    def program(x: Tensor, w: Tensor, s: Tensor, z: Tensor) -> Tensor:
        if is_packed:
            w = torch.stack([w & 15, (w >> 4) & 15], -1).view(size)
        found = w.to(dtype)
        if has_zeros:
            found = found - z.to(dtype)
        found = (found * s).view(-1, n) if by_column else (found * s).view(n, -1).t()
        return _product(x, found)

    _check(program, (_rows(m, groups * each, dtype), weights, scales, zeros))
    assert len(computed) == 1


@pytest.mark.parametrize("grouped", [False, True])
def test_open_rows(grouped: bool, computed: list[Any]) -> None:
    """Of few rows, of those of each tile, and of many, for which the factor is written first."""
    torch.manual_seed(0)
    x, w, s = _i8(_BF16, 70, 264, 512)
    if grouped:
        s = _scales(264, 4, 1)

    class Module(torch.nn.Module):
        def forward(self, x: Tensor, w: Tensor, s: Tensor) -> Tensor:
            groups = w.view(w.shape[0], -1, 128) if grouped else w
            return _product(x, (groups.to(_BF16) * s).view_as(w).t()).relu()

    rows = torch.export.Dim("m")
    shapes = {"x": {0: rows}, "w": None, "s": None}
    options: dict[str, Any] = {"products": "own", "schedules": "tuned", "opt_level": 0}
    compiled: Any = hirc.compile(
        Module(), (x, w, s), dynamic_shapes=shapes, target="cpu", cache=False, **options
    )
    assert len(computed) == 1
    for count in (1, 2, 16, 17, 64, 65, 200, 256, 257, 520):
        given = _rows(count, 512), w, s
        (expected,) = _expected(Module(), given)
        scale = expected.square().mean().sqrt()
        near = (compiled(*given).double() - expected).abs() <= 2.0**-8 * (expected.abs() + scale)
        assert bool(near.all()), count

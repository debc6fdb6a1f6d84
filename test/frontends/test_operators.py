"""Operators of torch that torch-mlir does not lower, or lowers to something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, special
from torch.nn import functional as F

import hirc
from hirc.compiler.errors import UnsupportedError
from hirc.frontends.torch.import_model import import_model


def _constants(x: Tensor) -> list[Tensor]:
    """Numbers of one type with tensors that are filled with one of another."""
    ones, two, true = torch.ones(3), torch.full((3,), 2), torch.ones(3, dtype=torch.bool)
    values = [
        ones == 1,
        ones - 1,
        ones * -1 + x[0, :3],
        two == 2.0,
        two > 1.5,
        true > -1,
        true == 1,
    ]
    half = x[0, :2].bfloat16()
    return [
        *values,
        # As a cache that is empty, and one that is not, of types that no array of Python's has.
        torch.cat([torch.tensor([], dtype=torch.bfloat16), half]),
        half * torch.tensor([0.5, -1.25], dtype=torch.bfloat16),
        torch.tensor([0.5, -1.25], dtype=torch.float8_e4m3fn).float() + x[0, :2],
        torch.tensor([1.5, 1.5]) < 2,
        1 / torch.tensor([0.0, -0.0]),
        torch.full((x.shape[0],), 3.0).sum() - 1,
    ]


def _limited(x: Tensor) -> list[Tensor]:
    """With nan among them, and among the limits."""
    hole = torch.tensor([math.nan, 0.3, -2.0, -0.0, 7.0, math.inf, -math.inf])
    limit = torch.tensor([0.0, math.nan, -1.0, 0.0, math.nan, 2.0, 2.0])
    return [
        *(hole.clamp(min=0), hole.clamp(max=1), hole.clamp(-0.5, 0.5), hole.clamp(1, -1)),
        *(hole.clamp_min(0.1), hole.clamp_max(limit), hole.clamp(limit, limit + 1)),
        *(hole.maximum(limit), limit.minimum(hole), hole.clamp(math.nan), hole.clamp_max(math.nan)),
        *(F.relu6(hole), F.hardtanh(hole, -2.0, 2), F.hardsigmoid(hole), F.hardswish(hole)),
        *(hole.half().clamp(max=6e4), hole.double().clamp(-1), hole.bfloat16().maximum(x[0, 0])),
    ]


def _of_two_floats(x: Tensor) -> list[Tensor]:
    """Quotients that round to a whole number they are below, and what has no finite quotient."""
    some = [0.0, -0.0, 1.0, -0.5, 2.5, -7.25, math.inf, -math.inf, math.nan]
    edges = x[0, 0] * 0 + torch.tensor(some)
    one, other = edges.repeat(len(some)), edges.repeat_interleave(len(some))
    tenths, back = torch.arange(1, 40) * (x[0, 0] * 0 + 0.1), torch.arange(39, 0, -1) * 0.3
    divide = torch.div
    return [
        *(divide(tenths, -0.1, rounding_mode="floor"), tenths // back, 3.0 // tenths),
        *(torch.fmod(tenths, 0.1), torch.fmod(-back, tenths), (-tenths).bfloat16() // 0.3),
        *(divide(one, other, rounding_mode="floor"), torch.fmod(one, other), 1 / one.trunc()),
        *(torch.isclose(one, other), torch.isclose(one, other, 0.5, 1, equal_nan=True)),
        *(torch.logaddexp(one, other), torch.logaddexp2(tenths, back), torch.hypot(one, other)),
        torch.hypot(one, other.double()),
        *(edges**0.5, edges**-0.5, edges**-1),
        *(torch.bucketize(edges[:5], edges.sort().values), torch.isin(edges, other)),
        *_of_large_integers((x[0, 0] * 0).long()),
        *(x[:0].repeat(2, 3), x[:, :0].repeat(2, 3), x[:0].repeat(2, 1, 0)),
    ]


def _of_large_integers(zero: Tensor) -> list[Tensor]:
    """That f64 does not have."""
    most = 2**63 - 1
    some = torch.tensor([most, most - 1, -most, 2**53 + 1, -(2**60) - 1, 7, -7, 0]) + zero
    by = torch.tensor([1, 3, 1, -1, 3, -2, 2, -5]) + zero
    shifts, few = torch.tensor([0, 31, 32, 63, 64, 70, -1, 3]) + zero, some.int()
    bits = shifts.byte()
    doubled = few.clone()
    doubled.data.mul_(2)
    least = torch.tensor([-(2**31), 7, -(2**31), -7], dtype=torch.int32) + zero.int()
    minus = (zero - 1).int()
    return [
        *(least % minus, torch.fmod(least, minus), least % (minus * 2), torch.fmod(least, -minus)),
        *(some // by, some // 1000, torch.div(2**62 + 1, by, rounding_mode="floor"), some % by),
        *(some >> shifts, some << shifts, few >> 33, few << 32, some >> 64, 1 << shifts, few >> 3),
        *(few.nan_to_num(), few.data + 1, doubled),
        *(torch.bitwise_left_shift(few, shifts), torch.bitwise_right_shift(few, shifts[2])),
        *(
            bits << bits,
            bits >> bits,
            bits >> 9,
            few.byte() << 1,
            torch.bitwise_right_shift(9, bits),
        ),
        *(torch.fmod(few.char(), 1000), bits % 1000, few.char() & 1000, -1000 // by.char()),
        *_beside_wider(few.char(), 1000),
        *_beside_wider(few, 2**40 + 3),
    ]


def _beside_wider(x: Tensor, number: int) -> list[Tensor]:
    """Numbers, and operands without dims, that the type does not have wrap; no others do."""
    wide = torch.tensor(number) + x[-1].long()
    return [
        *(x < number, x >= number, number > x, x == x.new_zeros(()) + number, x != number),
        *(x < wide, wide == x, torch.maximum(x, wide), torch.minimum(wide, x), x * wide, x & wide),
        *(torch.where(x > 0, x, wide), torch.where(x > 0, wide, x), x.clamp(wide), x // wide),
        *(x < number + 0.5, x < wide.unsqueeze(0), torch.maximum(x, wide.unsqueeze(0)), x / number),
        *((x > 0) < number, torch.where(x > 0, wide.bool(), x > 1), x[0] < wide, x > wide.char()),
    ]


def _quotients(x: Tensor, y: Tensor) -> list[Tensor]:
    divide = torch.div
    return [
        *(divide(x, y, rounding_mode="floor"), divide(x, y, rounding_mode="trunc")),
        *(x // y, x // -3, 7 // y, x % y, 7 % y, divide(x, 2.5, rounding_mode="floor")),
    ]


def _numbers(x: Tensor, n: Tensor) -> list[Tensor]:
    truths = x > 0
    return [
        *(n | 3, n ^ 3, n & 3, ~n, n << 2, n >> 1, 1 << n, truths | True, truths > -1),
        *(truths.clamp_max(n > 4), truths.clamp(min=n > 4)),
        *(truths + True, truths + False, torch.add(truths, True, alpha=0), truths + (n > 4)),
        *(n + True, x * True, truths * True, True + x, truths + 1, truths == True),  # noqa: E712
        *(n**3, n**0, 2**n, n**1.5, torch.hypot(x, x * 1e30), torch.copysign(x, -0.0)),
        (x / truths == x / truths),
        *((n - 4).short() ** (n.flip(0) - 2).short(), (-3) ** n.to(torch.int8)),
        torch.where(truths, 1, -1).to(torch.int8) ** (n << 4).to(torch.int8),
        *_quotients((n * 31 - 100).to(torch.int8), (n - 3).to(torch.int8) | 1),
        *((x / truths).isfinite(), n.isfinite(), torch.complex(x, x / truths).isfinite()),
        *(torch.complex(x / truths, x).isinf(), (x / truths).isneginf()),
        *(n.cumprod(0, dtype=torch.int8), x.cumprod(1, dtype=torch.float64)),
        *(each.mT @ each for each in (n.char() * 31, n.byte() * 31)),
        F.pad(x, (-1, 1, 0, -1), value=2.0),
        torch.complex(x, x + 1).abs(),
        *(n.clamp(min=1e-9), n.clamp(-1, 2.5), n.clamp_max(3), n.int().clip(4.5), n.clamp(min=x)),
        *(torch.combinations(x[0]), torch.combinations(n[0, :3], 3, with_replacement=True)),
        *(torch.fft.fft2(x).imag, torch.fft.irfft(torch.fft.rfft(x, norm="ortho")[:, :3], n=5)),
        torch.cdist(x, x + 1, p=1.0),
        F.pdist(x),
        *F.adaptive_max_pool2d(x[None], (3, 4), return_indices=True),
        F.conv1d(x[None], torch.full((4, 2, 3), 0.5), groups=2, padding="same"),
    ]


def _orders(x: Tensor, n: Tensor) -> list[Tensor]:
    some_nan = torch.where(x > 1, torch.nan, x)
    return [
        *some_nan.median(1),
        *some_nan.nanmedian(0, keepdim=True),
        x.median(),
        *x.kthvalue(2, dim=0),
        *n.mode(1),
        *some_nan.cummax(1),
        *(
            x.quantile(0.3, 1, keepdim=True),
            x.quantile(0.5, interpolation="midpoint", keepdim=True),
        ),
        x.quantile(torch.tensor([0.0, 0.4, 1.0]), 0, interpolation="nearest"),
        *(some_nan.quantile(0.2, 1), some_nan.nanquantile(torch.tensor([0.9]), -1, keepdim=True)),
        *n.cummin(0),
        torch.searchsorted(x.sort().values, x, right=True),
        *(torch.searchsorted(x[0].sort().values, 0), torch.bucketize(0.3, x[0].sort().values)),
        F.embedding_bag(n, x.T.repeat(2, 1), padding_idx=1, mode="mean"),
        F.embedding_bag(n.flatten(), x.T.repeat(2, 1), torch.tensor([0, 5, 5, 9]), mode="max"),
        F.embedding_bag(n[0, :0], x.T, torch.tensor([0, 0]), mode="max"),
        F.embedding_bag(
            *(n, some_nan.T.repeat(2, 1)),
            per_sample_weights=x[:, :1].expand(n.shape),
            mode="sum",
            padding_idx=-11,
        ),
    ]


def _bits_and_places(x: Tensor, n: Tensor) -> list[Tensor]:
    some_nan = torch.where(x > 1, torch.nan, x)
    signs = torch.tensor([0.0, -0.0, -1.5, torch.inf, -torch.inf]) * (x[0, 0] * 0 + 1)
    return [
        *(x.view(torch.int32), x.view(torch.int16), x.view(torch.int64), x.view(torch.bfloat16)),
        *(n.view(torch.int8), n.view(torch.int32), x.half().view(torch.int16), signs.signbit()),
        x.view(torch.int64).view(torch.int16).view(torch.float32),
        x.to(torch.float8_e4m3fn).view(torch.int8),
        x.to(torch.float8_e4m3fn).to(torch.float8_e5m2).float(),
        *(x.roll(3), x.roll((1, -2), (0, 1)), x.roll(0, 1), x[:0].roll(1, 0), x.roll(-13, 1)),
        *(some_nan.fmax(x[:, :1]), some_nan[0].fmin(x), n.fmax(n[0]), torch.fmin(x, n)),
        *(x[1, 1].cumsum(0), x[1, 1].cumprod(0), n.cumsum(1)),
        torch.diagonal_scatter(x, x[0, :4]),
        *(x.clone().fill_diagonal_(2.5), n.T.repeat(2, 1).fill_diagonal_(7, wrap=True)),
        x[:3, :3].expand(3, 3, 3).clone().fill_diagonal_(0.5),
        torch.diagonal_scatter(x, x[0, :3], -1),
        torch.diagonal_scatter(x, x[0, :2], 4),
        torch.diagonal_scatter(x[None].expand(3, 4, 6), x[:, :3], -1, 2, 0),
    ]


def _written_nothing(x: Tensor) -> list[Tensor]:
    """What is written at no places."""
    at, along, no_row, no_value = (
        torch.zeros(*sizes, dtype=torch.int64) for sizes in ((0,), (0, 6), (0, 6), (0,))
    )
    row, value = no_row.to(x.dtype), no_value.to(x.dtype)
    return [
        *(row.index_add(0, at, row), value.new_zeros(1).index_add(0, at, value)),
        *(x.index_add(0, at, row), x.index_copy(0, at, row), x.index_fill(0, at, 2.0)),
        *(x.index_put((at,), row, accumulate=True), x.index_put((at, at), value)),
        *(x.index_put((at,), x.sum()), x.put(at, value), x.index_reduce(0, at, row, "amax")),
        *(x.scatter(0, along, row), x.scatter(0, along, 1.0), x.scatter_add(0, along, row)),
        *(row.scatter_add(0, along, row), x.scatter_reduce(0, along, row, "amax")),
    ]


def _put_back(room: Tensor) -> Tensor:
    found, places = F.max_pool3d(room, (2, 1, 2), return_indices=True)
    return F.max_unpool3d(found, places, (2, 1, 2))


def _windows(x: Tensor) -> list[Tensor]:
    """Pools of what is no batch, and parts that windows see."""
    grid = x.reshape(2, 3, 4)
    room = x.reshape(1, 2, 3, 4).expand(2, 2, 3, 4)
    least, none = (torch.where(grid > 0, each, grid) for each in (-torch.inf, torch.nan))
    least = torch.cat([least, torch.full_like(least, -torch.inf)])
    return [
        *(F.avg_pool1d(x, 2), F.max_pool1d(x, 2), F.avg_pool2d(grid, 2, padding=1)),
        *F.max_pool2d(grid, 2, ceil_mode=True, return_indices=True),
        # The position is the first in the tensor where all of a window is -inf, and the last nan's.
        *(F.max_pool2d(each, 3, 2, 1, 2, return_indices=True)[1] for each in (least, none)),
        F.max_pool1d(least[0], 3, 2, 1, return_indices=True)[1],
        F.avg_pool3d(room, (1, 2, 2), stride=1, padding=(0, 1, 1), ceil_mode=True),
        *(
            F.max_pool3d(room, 2),
            *F.max_pool3d((room * 9).long(), 3, 2, 1, return_indices=True),
            *F.max_pool3d(torch.log(room), (1, 2, 2), (1, 1, 3), 0, 1, True, return_indices=True),
            _put_back(room),
            F.avg_pool3d(room, (1, 2, 3)),
            F.adaptive_avg_pool2d(grid, (2, 3)),
        ),
        *(F.adaptive_avg_pool3d(room, (1, 2, 3)), F.unfold(room, (2, 3), padding=1)),
        *(F.adaptive_avg_pool1d(x.reshape(1, 24), 7), F.adaptive_max_pool1d(x, 4)),
        F.adaptive_avg_pool2d(torch.where(x > 1, torch.nan, x)[None], (3, 5)),
        F.adaptive_avg_pool3d(room, (4, 2, 3)),
        *F.adaptive_max_pool3d(room, (1, 2, 3), return_indices=True),
        F.interpolate(x[None, None].half(), size=(3, 13), mode="area"),
        F.unfold(grid, 2, stride=2),
        F.fold(F.unfold(room, (2, 2)), (3, 4), (2, 2)),
    ]


def _special(x: Tensor, n: Tensor) -> list[Tensor]:
    edges = [0.0, -0.0, 1.0, 2.0, -1.0, -7.0, 0.5, torch.inf, -torch.inf, torch.nan, 1e-30, 1e30]
    wide = torch.cat([torch.tensor(edges).to(x.dtype), x.flatten() * 9, n.flatten() + x[0, 0] * 0])
    return [
        *(wide.lgamma(), wide.digamma(), wide.double().lgamma(), wide.half().digamma()),
        *(n.lgamma(), torch.mvlgamma(x.abs() + 3, 2)),
        *(special.ndtri(x.sigmoid()), special.ndtri(x.double() - 0.5), special.ndtr(n)),
        *_bessel(torch.cat([wide[:6], x.flatten() * 20]), n),
    ]


def _bessel(x: Tensor, n: Tensor) -> list[Tensor]:
    size, some = x.abs(), x[12:].clamp(-4.9, 4.9)
    return [
        *(torch.i0(some), special.i0e(x), special.i1(some.double()), special.i1e(x.half())),
        *(special.bessel_j0(x), special.bessel_j1(some), special.bessel_j0(n)),
        *(special.bessel_y0(size), special.bessel_y1(some.abs())),
        *(special.modified_bessel_k0(size), special.scaled_modified_bessel_k1(size)),
        *(
            torch.polygamma(1, some.double()),
            torch.polygamma(3, size + 0.1),
            torch.polygamma(0, size),
        ),
        *(special.zeta(size[1:] + 1.5, size[:-1] + 0.1), special.zeta(2, size)),
        *(special.hermite_polynomial_h(some, 3), special.legendre_polynomial_p(some, 4)),
        *(special.chebyshev_polynomial_w(some, 2), special.laguerre_polynomial_l(some, 1)),
        special.spherical_bessel_j0(x),
    ]


def _error_functions(x: Tensor) -> list[Tensor]:
    ends = torch.stack([x[0, 0] * 0 + each for each in (1.0, -1.0, 2.0, 0.9999999, -1e-9, -0.0)])
    image = x.reshape(1, 1, 4, 6)
    return [
        *(torch.erfc(x * 3), torch.erfc(x.double()), torch.special.erfcx(x.double() * 3)),
        *(torch.erfinv(ends), torch.erfinv(x.double().tanh())),
        *(torch.fmod(x, 0.7), torch.fmod(x.long(), 3), torch.signbit(x * 0), F.rrelu(x)),
        F.interpolate(image, size=(3, 9), mode="bilinear", antialias=True),
        F.interpolate(image, scale_factor=0.5, mode="bicubic", antialias=True),
    ]


def _complex(x: Tensor, n: Tensor) -> list[Tensor]:
    z, w = torch.complex(x, x + 1), torch.complex(x - 1, x.flip(0))
    found = [
        *(z + w, z - w, z * w, z / w, z + 1, 2 - z, z * 3, z / 3, z * 1j, x * z, 1 / z, -z),
        *(z.exp(), z.log(), z.sqrt(), z**2, z**-3, z**0.5, z.conj().clone(), z.cumsum(1)),
        *(z.sum(1), z.mean((0, 1)), z @ w.mT, torch.einsum("ij,ik->jk", z, w)),
        *(torch.cat([z, w]).roll(1, 1), torch.where(x > 0, z, w), z[:, [1, 3]], z.to(z.dtype)),
        *(z.prod(), z.prod(1), w.prod(-2, keepdim=True), w.to(torch.complex128).prod(0)),
        *(z.cumprod(1), torch.masked.prod(z, 1, mask=x > 0), torch.where(x > 0, z, 2j)),
        *(z.sin(), z.cos(), z.tan(), z.sinh(), z.cosh(), z.tanh(), (z * 40).tanh(), z.sigmoid()),
        *(z.asin(), z.acos(), z.atan(), z.asinh(), (z * 1e-3).acosh(), z.atanh()),
        *(z.log2(), z.log10(), (z * 1e-4).expm1(), z.exp2(), z.rsqrt(), z.sgn(), (z * 0).sgn()),
        *(2**z, (z * 0) ** 2.5, z**0, (z * 0) ** (w * w.conj()), torch.var_mean(z, dim=1)[1]),
        *(z.index_put((n[0, :2] % 4,), w[0], accumulate=True), z.scatter(0, n[:1] % 4, w)),
        *(z.index_add(0, n[0, :4] % 4, w), z.clone().masked_fill_(x > 0, 1j), z.unfold(1, 2, 3)),
        *(torch.stack([z, w], 1), x.view(torch.complex64), torch.full((2,), 1 - 2j), z[:0] + 1),
        *(z[:0].sum(0), z[:0].prod(0), z[:0].unfold(1, 2, 1), torch.cat([z[:0], z[:0]])),
        # Constants: of several numbers, equal ones, one, none, and wide ones.
        *(z[:, :2] * torch.tensor([1j, -0.0]), z + torch.tensor([2j] * 6), z * torch.tensor([1j])),
        *(z + torch.tensor(1 + 2j), torch.zeros(0, dtype=z.dtype) + 1),
        w @ torch.tensor([[1j, 2, 3 - 1j]] * 6, dtype=torch.complex128).to(z.dtype),
    ]
    numbers = [*(torch.view_as_real(each) for each in found), (z * 1e30).abs(), z.angle()]
    casts = z.bool(), (z * 0).bool(), z.mul(1j).real, (x > 0).to(z.dtype).imag
    numbers += [*casts, (x > 0).to(z.dtype).real, torch.where(x > 0, z, x * 0).bool()]
    numbers += [z.view(torch.float32), z.var(1), z.nonzero(), (z * (x > 0)) != 0, z == 1j]
    numbers += [torch.logical_and(z, x > 0), (z * (x > 0)).any(1), (z * 0).all()]
    return [*numbers, z == z * 1, z == w, (z / z - z / z).isnan(), z.imag]


def _picked(x: Tensor, n: Tensor) -> list[Tensor]:
    rows = n[0, :4] % 4
    reductions = [
        x.index_reduce(0, rows, x * 2, kind, include_self=kind != "mean")
        for kind in ("amin", "mean", "prod")
    ]
    which, row = torch.where(n[:2] > 4)
    none = x[:0]
    return [
        *(*reductions, x.repeat(2, 1)[row - 1, which], x.mT[row, which - 2]),
        torch.cat([none, x, none]),
        *(torch.cat([torch.empty(0), x[0]]), torch.block_diag(x, x[:1])),
    ]


def _convolutions(x: Tensor) -> list[Tensor]:
    """Of a channel a group: transposed ones, and those of three dims."""
    images, grid = x.repeat(1, 4).reshape(1, 4, 6, 4), x.repeat(2, 2).reshape(1, 2, 3, 4, 4)

    def weight(*sizes: int) -> Tensor:
        return torch.arange(math.prod(sizes), device=x.device).reshape(sizes).sin()

    transposed = F.conv_transpose2d
    return [
        transposed(images, weight(4, 1, 4, 4), stride=2, padding=1, groups=4),
        transposed(
            images, weight(4, 2, 3, 2), weight(8), (1, 3), (3, 0), (0, 2), 4, dilation=(2, 1)
        ),
        transposed(images, weight(4, 1, 1, 1), stride=2, padding=1, groups=4),
        F.conv_transpose1d(x[None], weight(4, 1, 3), stride=2, output_padding=1, groups=4),
        F.conv_transpose3d(grid, weight(2, 1, 3, 2, 1), stride=2, padding=(1, 0, 0), groups=2),
        F.conv3d(grid, weight(4, 1, 2, 3, 3), weight(4), (2, 1, 1), 1, (2, 1, 1), 2),
        F.group_norm(images, 2, weight(4), weight(4)),
    ]


def _bytes(n: Tensor) -> list[Tensor]:
    b = n.to(torch.int8) * 31
    return [
        *(b - 1, b * -3, b // 2, b % 5, 1 - b, b + 300, b * 300, b - 1.5, b / 2),
        *(torch.sub(b, 1, alpha=2), torch.div(b, -3, rounding_mode="trunc"), b.remainder(-3)),
        *(
            b.max(),
            b.min(),
            torch.vander(n[0], 3),
            torch.vander(n[0], increasing=True),
            torch.vander(n[0], 1),
        ),
    ]


def _losses(x: Tensor) -> list[Tensor]:
    """Of rows with labels for some classes, for none, and for all."""
    few, none, every = [3, 0, -1, 2, 2, 5], [-1, 0, 1, 2, 3, 4], [5, 4, 3, 2, 1, 0]
    labels = torch.tensor([few, none, every, [1, 1, -1, -1, 0, 0]])
    loss = F.multilabel_margin_loss
    kinds = ("none", "mean", "sum")
    return [
        *(loss(x, labels, reduction=kind) for kind in kinds),
        *(loss(x[0], labels[0], reduction=kind) for kind in kinds),
    ]


def _normed(x: Tensor) -> list[Tensor]:
    """Rows of which the eps that is not given is a large part."""
    small = x * 1e-4
    some = torch.zeros(3, 6, dtype=torch.complex64)
    some[:, ::2] = torch.complex(x[:3, ::2], x[1:, 1::2])
    return [
        F.rms_norm(small, (6,)),
        F.rms_norm(small, (4, 6), x),
        F.rms_norm(small, (6,), eps=1e-3),
        F.rms_norm(small.bfloat16(), (6,)),
        torch.view_as_real(torch.full((2,), 1 - 2j) * some[:2, :2]),
        torch.view_as_real(some),
    ]


def _batch_norms(x: Tensor) -> list[Tensor]:
    """By given statistics, and near misses that compute their own; a channel does not vary."""
    mean, variance = x.mean(0), x.var(0)
    still = torch.cat([variance[:5], torch.zeros(1)])
    images, few = x.repeat(1, 6).reshape(2, 6, 3, 4), (x[:, 0], x[:, 1].abs())
    norm, wide = F.batch_norm, x.double()
    holes = torch.cat([x[:3], torch.full((1, 6), math.nan)])
    return [
        norm(x, mean, variance),
        norm(x, mean, variance, x[0], eps=0.5),
        norm(x, mean, variance, None, x[0]),
        norm(images, mean, still, x[0], x[1], eps=1e-3),
        norm(images[:, :, None], mean, variance, x[0], x[1], False, 0.7),
        norm(x[None], *few, x[:, 2], x[:, 3]),
        norm(wide, mean.double(), variance.double(), wide[0], wide[1]),
        norm(images.half(), mean, variance, x[0], x[1]),
        norm(images.bfloat16(), mean.bfloat16(), variance.bfloat16(), x[0].bfloat16()),
        *(norm(x, mean, still), norm(x, mean, -variance), norm(holes, mean, variance)),
        norm(x, None, None, x[0], x[1], training=True),
        norm(x, mean.clone(), variance.clone(), training=True),
        F.instance_norm(images, mean, variance, x[0], x[1], use_input_stats=False),
    ]


def _looked_at(x: Tensor) -> list[Tensor]:
    """What torch looks at the elements of before it computes."""
    return [
        torch.distributions.Normal(x, x.abs() + 1).log_prob(x * 2),
        torch.distributions.Categorical(logits=x).entropy(),
        F.gaussian_nll_loss(x, x * 2, x.abs()),
        F.gaussian_nll_loss(x, x * 2, x[:, 0].abs(), reduction="none"),
        F.gaussian_nll_loss(x, x * 2, 2.0, full=True),
    ]


def _grouped(x: Tensor) -> list[Tensor]:
    """Multiplies groups of 0, 8, 0 and 16 rows, columns and terms."""
    ends = torch.tensor([0, 8, 8, 24], dtype=torch.int32)
    rows = x.repeat(6, 2)[:, :8].contiguous()
    factors = torch.stack([x.repeat(2, 2)[:, :8] * scale for scale in (1, 2, 3, 4)]).contiguous()
    few, halves = rows.bfloat16(), factors.bfloat16()
    made = [
        F.grouped_mm(few, halves, offs=ends),
        F.grouped_mm(few, halves.transpose(1, 2), offs=ends),
        F.grouped_mm(halves, few.T.contiguous(), offs=ends),
        F.grouped_mm(few.T.contiguous(), few, offs=ends),
        F.grouped_mm(halves, halves),
    ]
    return [*made, F.grouped_mm(rows, factors, offs=ends)]


@pytest.mark.filterwarnings("ignore:index_reduce")
def test_operators() -> None:
    torch.manual_seed(0)
    x, n = torch.randn(4, 6), torch.randint(0, 9, (4, 6))

    def model(x: Tensor, n: Tensor) -> list[Tensor]:
        made = [*_constants(x), *_numbers(x, n), *_orders(x, n), *_bits_and_places(x, n)]
        made += [*_special(x, n), *_error_functions(x), *_complex(x, n), *_picked(x, n)]
        return [
            *made,
            *_convolutions(x),
            *_windows(x),
            *_written_nothing(x),
            *_losses(x),
            *_bytes(n),
            *_normed(x),
            *_batch_norms(x),
            *_looked_at(x),
            *_grouped(x),
            *_limited(x),
            # The greatest of windows' greatest.
            *(F.max_pool1d(x[None], 2).amax((1, 2)), -F.max_pool1d(-x[None], 3, 1, 1).amax(2)),
        ]

    found = hirc.compile(model, (x, n), target="cpu", opt_level=0)(x, n)
    for number, (ours, theirs) in enumerate(zip(found, model(x, n), strict=True)):
        torch.testing.assert_close(
            ours, theirs, equal_nan=True, msg=lambda said, number=number: f"{number}: {said}"
        )


class _Exported(torch.nn.Module):
    """What torch.export leaves as operators of which torch-mlir has none, or others."""

    def forward(self, x: Tensor, edges: Tensor) -> list[Tensor]:
        return [
            *F.max_pool2d(x, 2, return_indices=True),
            *F.max_pool1d(x[0, 0], 3, 2, 1, return_indices=True),
            torch.searchsorted(edges, 0.5),
            *(torch.bucketize(7, edges.long(), right=True), torch.bucketize(0.5, edges)),
        ]


def test_exported_programs() -> None:
    x = torch.randn(2, 1, 4, 6)
    x[0, 0, 1, 1], x[1, 0, :, 4:] = torch.nan, -torch.inf
    inputs = x, torch.tensor([-torch.inf, 0.25, 0.5, 7.0, torch.nan])
    program = torch.export.export(_Exported(), inputs)
    found = hirc.compile(program, target="cpu", opt_level=0)(*inputs)
    torch.testing.assert_close(found, _Exported()(*inputs), equal_nan=True)


def test_functions_of_two_floats() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 7)
    found = hirc.compile(_of_two_floats, (x,), target="cpu", opt_level=0)(x)
    for number, (ours, theirs) in enumerate(zip(found, _of_two_floats(x), strict=True)):
        torch.testing.assert_close(
            ours, theirs, equal_nan=True, msg=lambda said, number=number: f"{number}: {said}"
        )


def _beside_numbers(x: Tensor) -> list[Tensor]:
    """What has no f32: of the numbers beside f64, and of those that the operators are made of."""
    return [
        *(0.1 - x, 1e300 - x, 1e-50 - x * 0, torch.rsub(x, 0.1, alpha=2), 1.5 - x * 1j),
        *(x - 0.1, 0.1 / x, 0.1 ** x.abs(), x.lerp(x * 2, 0.1), torch.where(x > 0, 0.1, x)),
        *(x.lgamma(), special.gammaln(x), torch.xlogy(x.abs(), 0.1), torch.xlogy(0.1, x.abs())),
        *(special.xlog1py(x, 0.1), x.logit(0.1), x.digamma(), special.entr(x.abs())),
        F.interpolate(x.reshape(1, 1, 2, 3), (5, 2), mode="bilinear", antialias=True),
        F.interpolate(x.reshape(1, 1, 2, 3), (1, 5), mode="bicubic", antialias=True),
    ]


def test_numbers_beside_f64() -> None:
    x = torch.tensor([0.1, 0.3, -0.5, -2.3, 0.9, 7.7], dtype=torch.float64)
    found = hirc.compile(_beside_numbers, (x,), target="cpu", opt_level=0)(x)
    for number, (ours, theirs) in enumerate(zip(found, _beside_numbers(x), strict=True)):
        torch.testing.assert_close(
            ours, theirs, rtol=1e-13, atol=1e-15, equal_nan=True,
            msg=lambda said, number=number: f"{number}: {said}",
        )  # fmt: skip


def _at_infinity(x: Tensor) -> list[Tensor]:
    edges = x[:1] * 0 + torch.tensor([math.inf, -math.inf, 1.0, 0.0])
    real = torch.complex(edges, torch.zeros_like(edges))
    imaginary = torch.complex(edges.clamp(-1, 1), edges)
    of_q = torch.tensor([0.5, 1.0, 0.7, 2.0])
    return [
        torch.view_as_real(real.exp()),
        *(torch.view_as_real(real.sqrt()), torch.view_as_real(imaginary.sqrt())),
        *(special.zeta(edges[:1], of_q[:2]), special.zeta(edges[:1] * 0 + 1e30, of_q)),
    ]


def test_functions_at_infinity() -> None:
    x = torch.randn(3)
    found = hirc.compile(_at_infinity, (x,), target="cpu", opt_level=0)(x)
    for number, (ours, theirs) in enumerate(zip(found, _at_infinity(x), strict=True)):
        torch.testing.assert_close(
            ours, theirs, equal_nan=True, msg=lambda said, number=number: f"{number}: {said}"
        )


def _unsigned(x: Tensor, y: Tensor, s: Tensor, wide: Tensor) -> list[Tensor]:
    """Of bytes that may be greater than 127; `wide` are of uint16."""
    table = torch.arange(8.0)

    def more(x: Tensor) -> Tensor:
        return x + 200

    def less(x: Tensor) -> Tensor:
        return x - 1

    return [
        *(x + y, x - y, x * y, x // y, x % y, x / y, -x, ~x, x + 300, x - 1, 5 - x, x // -2, x**2),
        *(x < y, x > 127, x > -1, x == -1, x < 300, x > 1.5, torch.maximum(x, y), x.clamp(-5, 10)),
        *(
            x << 1,
            x << 9,
            x >> 3,
            x << y % 8,
            x & -2,
            x | 128,
            x + s,
            x < s,
            torch.where(x > y, x, s),
        ),
        *(x.float(), x.long(), x.to(torch.int8), x.bool(), s.to(torch.uint8), wide.to(torch.uint8)),
        *(
            (x.float() * 3 - 99).to(torch.uint8),
            x.to(torch.uint16) * 300,
            wide.float(),
            wide.long(),
        ),
        *(x.sum(1), x.prod(), x.amax(1), *x.min(0), x.argmax(1), *x.sort(1), x.cumsum(1), x.any()),
        *(x.T, torch.cat([x, y]), x[[0, 2]], x.index_add(0, torch.tensor([1, 1]), y[:2]), x[x > y]),
        *(x.view(torch.int8), s.view(torch.uint8), x.view(torch.int16), x.masked_fill(x > 9, 200)),
        *(x + torch.tensor([1, 2, 3, 200, 254, 255], dtype=torch.uint8), table[(x % 8).long()]),
        torch.cond(x.sum() > 0, more, less, (x,)),
    ]


def test_unsigned_elements() -> None:
    torch.manual_seed(0)
    x, y = torch.randint(1, 256, (2, 4, 6), dtype=torch.uint8)
    x[0, :4] = torch.tensor([0, 1, 255, 128])
    s = torch.randint(-128, 128, (4, 6), dtype=torch.int8)
    wide = torch.randint(0, 65536, (4, 6)).to(torch.uint16)
    inputs = (x, y, s, wide)
    found = hirc.compile(_unsigned, inputs, target="cpu", opt_level=0)(*inputs)
    for number, (ours, theirs) in enumerate(zip(found, _unsigned(*inputs), strict=True)):
        torch.testing.assert_close(
            ours, theirs, equal_nan=True, msg=lambda said, number=number: f"{number}: {said}"
        )


def _mode_of_many(x: Tensor) -> Any:
    return x.expand(200, 3, 3).reshape(-1).mode()


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.special.airy_ai, "aten.special_airy_ai"),
        (torch.linalg.eigvals, "linalg_eig"),
        (torch.linalg.ldl_factor, "'torch.linalg.ldl_factor' has no lowering"),
        (torch.poisson, "random numbers of 'aten.poisson"),
        (torch.Tensor.to_sparse, "sparse tensors"),
        (torch.Tensor.chalf, "complex32"),
        (_mode_of_many, "along 1800 elements.*512 elements"),
    ],
)
def test_what_is_not_lowered_is_named(function: Callable[[Tensor], Any], name: str) -> None:
    def model(x: Tensor) -> Any:
        return function(torch.ones(3, 3) * 2 + x)

    with pytest.raises(UnsupportedError, match=name) as caught:
        import_model(model, (torch.rand(3, 3),))
    assert caught.value.position is not None
    assert caught.value.position.file == __file__

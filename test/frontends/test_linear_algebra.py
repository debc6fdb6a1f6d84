"""Solutions, inverses, determinants, factors and norms of matrices."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.export import Dim

import hirc

_LINALG = torch.linalg


def _of_batch(a: Tensor, b: Tensor, v: Tensor) -> list[Tensor]:
    positive = a @ a.mT + 3 * torch.eye(4)
    factor = _LINALG.cholesky(positive + a.triu(1))
    # The first pivot is 0 before rows are exchanged; the last matrix has none.
    turned = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    some = torch.stack([turned * a[0, 0, 0], torch.ones(4, 4) * a[0, 0, 0]])
    weights = torch.tensor([1, 2, 1, 3])
    return [
        *(_LINALG.inv(turned.double() * v[0, 0]), _LINALG.solve(a, v)),
        *(_LINALG.solve(a, b.mT, left=False), _LINALG.solve(a[0], b)),
        *(*_LINALG.slogdet(some), torch.det(some), torch.logdet(a)),
        *(factor, torch.cholesky_solve(b, factor)),
        *(_LINALG.inv_ex(some).info, _LINALG.solve_ex(some, b[:2]).info),
        *(_LINALG.solve_ex(some, v[0]).info, _LINALG.cholesky_ex(some @ some.mT, upper=True).info),
        *(_LINALG.cholesky_ex(positive), _LINALG.inv_ex(a), _LINALG.cholesky_ex(-positive).info),
        _LINALG.solve_triangular(a, b.mT, upper=False, left=False, unitriangular=True),
        *(*_LINALG.qr(a[..., :2]), *_LINALG.qr(turned[:2], "complete")),
        *(_LINALG.norm(a[0], 1), _LINALG.norm(v, 3, dim=1), _LINALG.norm(a, "fro", dim=(0, 1))),
        *(_LINALG.matrix_norm(a, -math.inf, keepdim=True), _LINALG.norm(v[0], math.inf)),
        # Squares of these are 0 or infinite.
        *(_LINALG.qr(a * 1e-30)[0], _LINALG.qr(a * 1e30)[0]),
        *(torch.cov(v), torch.corrcoef(v), torch.cov(v[0]), torch.corrcoef(v[0])),
        torch.cov(v[0, 0], correction=0),
        torch.cov(v, correction=0, fweights=weights, aweights=weights / 7),
    ]


def _of_complex(a: Tensor, b: Tensor) -> list[Tensor]:
    a, b = torch.complex(a, a.mT.flip(0)), torch.complex(b, -b.flip(1))
    factor = _LINALG.cholesky(a @ a.mH + 3 * torch.eye(4))
    return [
        *(_LINALG.det(a), *_LINALG.slogdet(a), torch.logdet(a), _LINALG.inv(a)),
        *(_LINALG.solve(a, b), factor, _LINALG.cholesky(a @ a.mH + 3 * torch.eye(4), upper=True)),
        *(torch.cholesky_solve(b, factor), _LINALG.solve_triangular(a, b, upper=True)),
        *(*_LINALG.qr(a), *_LINALG.qr(b, "complete"), _LINALG.norm(a, "fro", dim=(1, 2))),
    ]


def _of_both(a: Tensor, b: Tensor, v: Tensor) -> list[Tensor]:
    return [*_of_batch(a, b, v), *_of_complex(a, b)]


def test_matrices() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(3, 4, 4), torch.randn(3, 4, 2), torch.randn(3, 4))
    found = hirc.compile(_of_both, inputs, target="cpu", opt_level=0)(*inputs)
    for number, (ours, theirs) in enumerate(zip(found, _of_both(*inputs), strict=True)):
        torch.testing.assert_close(
            ours,
            theirs,
            rtol=1e-4,
            atol=1e-4,
            equal_nan=True,
            msg=lambda said, number=number: f"{number}: {said}",
        )


def _of_values(a: Tensor, b: Tensor) -> list[Tensor]:
    """Decompositions as what is made of their factors, whose signs are free; `a` is tall."""
    low_rank = torch.cat([a, a[..., :1] * 0, a[..., 1:] + a[..., :1]], -1)
    values, vectors = _LINALG.eigh(a @ a.mT)
    u, s, vh = _LINALG.svd(low_rank)
    count = s.shape[-1]
    factors = _LINALG.lu_factor(a @ a.mT + torch.eye(a.shape[-2]))
    turns, scales = a[0].tril(-1), a[0, 0] * 0.3
    return [
        *(values, vectors * values.unsqueeze(-2) @ vectors.mH, vectors.mH @ vectors),
        _LINALG.svdvals(b[:, :1]),
        *(s, u[..., :count] * s.unsqueeze(-2) @ vh[..., :count, :], u.mH @ u, vh @ vh.mH),
        *(*_LINALG.lstsq(a, b)[:3], _LINALG.matrix_rank(a), _LINALG.matrix_rank(a[:, :0])),
        *(*_LINALG.lu(a.mT), *factors, *torch.lu_unpack(*factors)),
        *(_LINALG.lu_solve(*factors, b), torch.matrix_exp(a @ a.mT / 4)),
        *(_LINALG.householder_product(turns, scales), torch.ormqr(turns, scales, b[0])),
    ]


def test_values_and_factors_of_an_open_size() -> None:
    torch.manual_seed(0)
    size = Dim("size", min=7, max=20)
    shapes = {"a": {1: size}, "b": {1: size}}
    given = (torch.randn(2, 8, 3), torch.randn(2, 8, 2))
    compiled = hirc.compile(_of_values, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    for rows in (8, 7):
        inputs = (torch.randn(2, rows, 3), torch.randn(2, rows, 2))
        found = zip(compiled(*inputs), _of_values(*inputs), strict=True)
        for number, (ours, theirs) in enumerate(found):
            torch.testing.assert_close(
                ours,
                theirs,
                rtol=1e-4,
                atol=1e-4,
                msg=lambda said, number=number: f"{number}: {said}",
            )


def _of_any_size(a: Tensor, b: Tensor) -> list[Tensor]:
    positive = a @ a.mT + torch.eye(a.shape[-1])
    return [
        _LINALG.solve(a, b),
        _LINALG.cholesky(positive + a.triu(1)),
        torch.zeros_like(a) / a.shape[-1],
    ]


def test_matrices_of_open_sizes_and_those_without_a_solution() -> None:
    torch.manual_seed(0)
    batch, size = Dim("batch", max=9), Dim("size", min=2, max=20)
    shapes = {"a": {0: batch, 1: size, 2: size}, "b": {0: batch, 1: size}}
    given = (torch.randn(3, 4, 4), torch.randn(3, 4, 2))
    compiled = hirc.compile(_of_any_size, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    for count, rows in ((2, 9), (1, 2)):
        inputs = (torch.randn(count, rows, rows), torch.randn(count, rows, 2))
        for ours, theirs in zip(compiled(*inputs), _of_any_size(*inputs), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
    assert compiled(torch.ones(1, 3, 3), torch.ones(1, 3, 2))[0].isnan().all()

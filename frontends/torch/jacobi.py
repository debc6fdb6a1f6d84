"""Singular values, and the eigenvalues of Hermitian matrices, by Jacobi's rotations.

A round rotates half as many pairs of columns as there are columns, side by side; a sweep is the
rounds in which each column meets every other one, as in a tournament. Sweeps are a loop of the
host, which ends once a sweep has found nothing to turn. The vectors are those that torch gives up
to a factor of absolute value 1, or another basis where values are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .linear_algebra import LAST_TWO, householder_qr, is_empty, loop

_ATEN = torch.ops.aten
# Once columns are nearly orthogonal each sweep squares what is left: the one that finds nothing
# greater than this part of the root of the rounding error leaves less than that error.
_LEFT = 1e-2
# From 6 to 12 are usual; what rounding keeps from settling ends here.
_MOST_SWEEPS = 24


def jacobi_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of what is made of singular values and eigenvalues."""
    return {
        _ATEN._linalg_eigh.default: _eigh,
        _ATEN._linalg_svd.default: _svd,
        _ATEN.linalg_pinv.atol_rtol_tensor: _pseudoinverse,
        _ATEN.linalg_pinv.atol_rtol_float: _pseudoinverse,
        _ATEN.linalg_pinv.default: _pseudoinverse_within,
        _ATEN.linalg_pinv.rcond_tensor: _pseudoinverse_within,
        _ATEN.pinverse.default: _pseudoinverse_within,
        _ATEN.linalg_matrix_rank.atol_rtol_tensor: _rank,
        _ATEN.linalg_matrix_rank.atol_rtol_float: _rank,
        _ATEN.linalg_matrix_rank.default: _rank_within,
        _ATEN.linalg_matrix_rank.tol_tensor: _rank_within,
    }


def _partners(count: Any, number: Tensor) -> Tensor:
    """Returns which column each meets in a round; of an odd count one meets itself."""
    here = torch.arange(count, device=number.device)
    players = count + count % 2
    rounds = players - 1
    last = number * (players // 2) % rounds
    other = torch.where(here == last, rounds, (number - here) % rounds)
    other = torch.where(here == rounds, last, other)
    return torch.where(other >= count, here, other)


def _rotation(
    lengths: Tensor, products: Tensor, partners: Tensor, least: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns of which factors of each column and its partner the change is, and how much there
    was to turn. A change is rounded less than what is turned as a whole.

    `lengths` and `products` are the elements of the Hermitian matrix on its diagonal and between
    partners; what is less than `least` counts for nothing left.
    """
    here = torch.arange(partners.shape[0], device=partners.device)
    # Both of a pair take the same number: what rounding left differs on both sides of the diagonal.
    mirrored = products.index_select(-1, partners).conj()
    products = torch.where(here < partners, products, mirrored)
    size = products.abs()
    is_pair = (here != partners) & (size > 0)
    cotangent = (lengths.index_select(-1, partners) - lengths) / (2 * size)
    is_positive = (cotangent > 0) | ((cotangent == 0) & (here < partners))
    tangent = 1 / (cotangent.abs() + (cotangent.square() + 1).sqrt())
    tangent = torch.where(is_pair, torch.where(is_positive, tangent, -tangent), 0.0)
    cosine = (tangent.square() + 1).rsqrt()
    turned = products.conj() / torch.where(is_pair, size, 1.0)
    left = torch.where(is_pair & (least > 0), size / least, 0.0).amax()
    sine = tangent * cosine
    return -sine.square() / (1 + cosine), -sine * turned, left


def _mixed(x: Tensor, factors: Sequence[Tensor], partners: Tensor) -> Tensor:
    """Returns the columns of x, each with some of its partner."""
    own, other = (each.unsqueeze(-2) for each in factors)
    return x + (x * own + x.index_select(-1, partners) * other)


def _swept(
    turn: Callable[[Tensor, list[Tensor]], tuple[list[Tensor], Tensor]],
    begin: Sequence[Tensor],
) -> list[Tensor]:
    """Returns what sweeps of rounds leave of tensors; `turn` also says how much it found."""
    real = begin[0].dtype.to_real() if begin[0].is_complex() else begin[0].dtype
    most = _LEFT * torch.finfo(real).eps ** 0.5

    def go_on(sweep: Tensor, left: Tensor, *values: Tensor) -> Tensor:
        return (sweep < _MOST_SWEEPS) & (left > most)

    def one_round(left: Tensor, *given: Tensor) -> list[Tensor]:
        *values, number = given
        turned, found = turn(number, values)
        left = torch.maximum(left, found)
        return [left, *turned, left.clone()]

    def one_sweep(sweep: Tensor, left: Tensor, *values: Tensor) -> list[Tensor]:
        rounds = values[0].shape[-1] + values[0].shape[-1] % 2 - 1
        left, *turned, _ = loop(one_round, [torch.zeros_like(left), *values], rounds)
        return [sweep + 1, left, *turned]

    device = begin[0].device
    sweep = torch.zeros((), dtype=torch.int64, device=device)
    left = torch.full((), torch.inf, dtype=real, device=device)
    # Sizes of 1 keep the strides that they have if nothing is copied.
    values = [each.clone(memory_format=torch.contiguous_format) for each in begin]
    carried = (sweep, left, *values)
    return [*torch.ops.higher_order.while_loop(go_on, one_sweep, carried, ())[2:]]


def _eigh(a: Tensor, UPLO: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    """Returns the eigenvalues, the least first, and their vectors; one half of a is read."""
    if is_empty(a):
        return a.abs().sum(-1), a.clone()
    half = a.tril(-1) if UPLO.upper() == "L" else a.triu(1)
    size: Any = a.shape[-1]
    square = torch.eye(size, dtype=a.dtype, device=a.device).expand(a.shape)
    diagonal = _real(a.diagonal(dim1=-2, dim2=-1))
    whole = half + half.mH + square * diagonal.unsqueeze(-1)
    scale = _part_of(whole.abs().amax(LAST_TWO, keepdim=True), 1.0)
    whole = whole / scale

    def turn(number: Tensor, given: list[Tensor]) -> tuple[list[Tensor], Tensor]:
        whole = given[0]
        partners = _partners(whole.shape[-1], number)
        lengths = _real(whole.diagonal(dim1=-2, dim2=-1))
        products = whole.gather(-1, partners.expand(lengths.shape).unsqueeze(-1)).squeeze(-1)
        *factors, left = _rotation(lengths, products, partners, torch.ones_like(lengths))
        mixed = [_mixed(each, factors, partners) for each in given]
        mixed[0] = _mixed(mixed[0].mH, factors, partners).mH
        return mixed, left

    whole, *vectors = _swept(turn, [whole, square] if compute_v else [whole])
    values, order = torch.sort(_real(whole.diagonal(dim1=-2, dim2=-1)), stable=True)
    values = values * scale.squeeze(-1)
    if not compute_v:
        return values, a.new_zeros([0])
    return values, _in_order(vectors[0], order)


def _svd(
    a: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns u, the singular values, the greatest first, and the other vectors' adjoint."""
    tall: Any = a.shape[-2]
    wide: Any = a.shape[-1]
    if statically_known_true(tall < wide):
        v, values, uh = _svd(a.mH, full_matrices, compute_uv)
        return (uh.mH, values, v.mH) if compute_uv else (uh, values, v)
    square = torch.eye(wide, dtype=a.dtype, device=a.device).expand(*a.shape[:-2], -1, -1)
    if is_empty(a):
        whole = torch.eye(tall, dtype=a.dtype, device=a.device).expand(*a.shape[:-2], -1, -1)
        u = whole if full_matrices else whole[..., :wide]
        return u.clone(), a.abs().sum(-2), square.clone()
    scale = _part_of(a.abs().amax(LAST_TWO, keepdim=True), 1.0)
    precision = torch.finfo(scale.dtype).eps

    def turn(number: Tensor, given: list[Tensor]) -> tuple[list[Tensor], Tensor]:
        columns = given[0]
        partners = _partners(columns.shape[-1], number)
        lengths = columns.abs().square().sum(-2)
        products = (columns.conj() * columns.index_select(-1, partners)).sum(-2)
        # What is left of columns that others make up is rounding errors, and orthogonal to none.
        least = (lengths * lengths.index_select(-1, partners)).sqrt()
        least = torch.maximum(least, precision * lengths.amax(-1, keepdim=True))
        *factors, left = _rotation(lengths, products, partners, least)
        return [_mixed(each, factors, partners) for each in given], left

    columns, *others = _swept(turn, [a / scale, square] if compute_uv else [a / scale])
    count = torch.sym_min(tall, wide)
    values = columns.abs().square().sum(-2).sqrt()
    values, order = torch.sort(values, descending=True, stable=True)
    values = values[..., :count]
    scaled = values * scale.squeeze(-1)
    if not compute_uv:
        return a.new_zeros([0]), scaled, a.new_zeros([0])
    v = _in_order(others[0], order)
    if not full_matrices:
        v = v[..., :count]
    # What has no length has no direction: there the factor q of the others fills up the basis.
    is_none = values <= precision * torch.sym_max(tall, wide) * values[..., :1]
    known = _in_order(columns, order)[..., :count] / _part_of(values, 1.0).unsqueeze(-2)
    known = torch.where(is_none.unsqueeze(-2), 0.0, known)
    q, _ = householder_qr(known, "complete" if full_matrices else "reduced")
    u = torch.where(is_none.unsqueeze(-2), q[..., :count], known)
    if full_matrices:
        u = torch.cat([u, q[..., count:]], -1)
    return u, scaled, v.mH


def _pseudoinverse(
    a: Tensor,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
    hermitian: bool = False,
) -> Tensor:
    """Returns it by singular values; those within the tolerances count for 0."""
    a = _whole(a, hermitian)
    if is_empty(a):
        return a.mH.clone()
    u, values, vh = _svd(a)
    least = _least(values, a.shape[-2:], atol, rtol)
    inverse = torch.where(values > least, 1 / values, 0.0).to(a.dtype)
    return (vh.mH * inverse.unsqueeze(-2)) @ u.mH


def _pseudoinverse_within(
    a: Tensor, rcond: Tensor | float = 1e-15, hermitian: bool = False
) -> Tensor:
    return _pseudoinverse(a, rtol=rcond, hermitian=hermitian)


def _rank(
    a: Tensor,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
    hermitian: bool = False,
) -> Tensor:
    if is_empty(a):
        return a.new_zeros(a.shape[:-2], dtype=torch.int64)
    values = torch.linalg.svdvals(_whole(a, hermitian))
    return (values > _least(values, a.shape[-2:], atol, rtol)).sum(-1)


def _rank_within(a: Tensor, tol: Tensor | float, hermitian: bool = False) -> Tensor:
    return _rank(a, atol=tol, rtol=0.0, hermitian=hermitian)


def least_squares(a: Tensor, b: Tensor, rcond: float | None = None) -> tuple[Tensor, ...]:
    """Returns the shortest solution, nothing of what it leaves, the rank, and no singular values,
    as torch does on a CPU.
    """
    is_vector = b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])
    solution = torch.linalg.pinv(a, rtol=rcond) @ (b.unsqueeze(-1) if is_vector else b)
    rank = torch.linalg.matrix_rank(a, rtol=rcond)
    none = torch.zeros([0], dtype=_real(a).dtype, device=a.device)
    return solution.squeeze(-1) if is_vector else solution, none, rank, none.clone()


def _whole(a: Tensor, hermitian: bool) -> Tensor:
    """Returns a matrix of which one half is read if it is Hermitian."""
    return a.tril() + a.tril(-1).mH if hermitian else a


def _least(
    values: Tensor,
    sizes: Sequence[Any],
    atol: Tensor | float | None,
    rtol: Tensor | float | None,
) -> Tensor:
    """Returns what singular values that count are greater than, as torch chooses it."""

    def number(value: Any) -> Tensor:
        if isinstance(value, Tensor):
            return value.to(values.dtype).unsqueeze(-1)
        return torch.full((), value, dtype=values.dtype, device=values.device)

    if rtol is None:
        rtol = number(torch.finfo(values.dtype).eps * torch.sym_max(*sizes))
        rtol = rtol if atol is None else torch.where(number(atol) > 0, 0.0, rtol)
    else:
        rtol = number(rtol)
    least = rtol * values.amax(-1, keepdim=True)
    return least if atol is None else torch.maximum(least, number(atol))


def _in_order(columns: Tensor, order: Tensor) -> Tensor:
    return columns.gather(-1, order.unsqueeze(-2).expand(columns.shape))


def _part_of(x: Tensor, otherwise: float) -> Tensor:
    """Returns x, and another number where it is 0."""
    return torch.where(x == 0, otherwise, x)


def _real(x: Tensor) -> Tensor:
    return x.real if x.is_complex() else x

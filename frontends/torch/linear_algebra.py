"""Solutions, inverses, determinants, factors, exponentials and norms of matrices.

Each is a loop of the host over the rows or columns, so that their number may be open. The matrices
of a batch go through it side by side. torch raises an error where a matrix has no inverse or no
Cholesky factor: here its elements are nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

_ATEN = torch.ops.aten
LAST_TWO = (-2, -1)


def linear_algebra_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of what is computed of matrices, but for products."""
    given = {
        _ATEN.linalg_inv.default: _inverse,
        _ATEN.inverse.default: _inverse,
        _ATEN.linalg_inv_ex.default: _inverse_ex,
        _ATEN.linalg_solve.default: _solution,
        _ATEN.linalg_solve_ex.default: _solution_ex,
        _ATEN.linalg_det.default: _determinant,
        _ATEN.det.default: _determinant,
        _ATEN.linalg_slogdet.default: _log_determinant,
        _ATEN.slogdet.default: _log_determinant,
        _ATEN.logdet.default: _logdet,
        _ATEN.linalg_cholesky.default: _cholesky,
        _ATEN.cholesky.default: _cholesky,
        _ATEN.linalg_cholesky_ex.default: _cholesky_ex,
        _ATEN.cholesky_solve.default: _cholesky_solve,
        _ATEN.cholesky_inverse.default: _cholesky_inverse,
        _ATEN.linalg_solve_triangular.default: _solve_triangular,
        _ATEN.triangular_solve.default: _triangular_solve,
        _ATEN.linalg_qr.default: householder_qr,
        _ATEN.linalg_householder_product.default: _reflections,
        _ATEN.ormqr.default: _reflected,
        _ATEN.linalg_lu.default: _permuted_factors,
        _ATEN.linalg_lu_factor_ex.default: _lu,
        _ATEN.linalg_lu_factor.default: _lu_alone,
        _ATEN.lu_unpack.default: _unpacked,
        _ATEN.linalg_lu_solve.default: _lu_solve,
        _ATEN.linalg_matrix_exp.default: _exponential,
    }
    return {
        **given,
        _ATEN.linalg_norm.default: norm,
        _ATEN.linalg_norm.ord_str: norm,
        _ATEN.linalg_matrix_norm.default: matrix_norm,
        _ATEN.linalg_matrix_norm.str_ord: matrix_norm,
    }


def covariance(
    x: Tensor,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Returns the covariance of the rows. torch looks whether weights are as they should be."""
    rows = x.reshape(1, -1) if x.dim() < 2 else x
    rows = rows if rows.is_floating_point() or rows.is_complex() else rows.float()
    weights = aweights if fweights is None else fweights
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    count: Any = rows.shape[1]
    if weights is None:
        apart = rows - rows.mean(1, keepdim=True)
        weighed, divisor = apart, max(count - correction, 0)
    else:
        weights = weights.to(rows.dtype)
        total = weights.sum()
        apart = rows - (rows * weights).sum(1, keepdim=True) / total
        weighed = apart * weights
        less: Any = correction
        if aweights is not None:
            less = correction * (weights * aweights).sum() / total
        divisor = (total - less).clamp(min=0)
    return (weighed @ apart.mT.conj() / divisor).squeeze()


def _first_of(truths: Tensor) -> Tensor:
    """Returns where along the last dim the first is true, counted from 1; 0 where none is."""
    if is_empty(truths):
        return torch.zeros(truths.shape[:-1], dtype=torch.int32, device=truths.device)
    none: Any = truths.shape[-1] + 1
    first = torch.where(truths, torch.arange(1, none, device=truths.device), none).amin(-1)
    return torch.where(first == none, 0, first).to(torch.int32)


def is_empty(a: Tensor) -> bool:
    """Returns whether a tensor has no elements; a loop would depend on its sizes."""
    return any(statically_known_true(size == 0) for size in a.shape)


def loop(
    step: Callable[..., list[Tensor]], begin: Sequence[Tensor], count: Any, *stays: Tensor
) -> list[Tensor]:
    """Returns what steps 0, 1, ... leave, and then what each gave, stacked."""
    numbers = torch.arange(count, device=begin[0].device)
    scan = torch.ops.higher_order.scan
    carried = [each.clone(memory_format=torch.contiguous_format) for each in begin]
    return [*scan(step, carried, [numbers], stays)]


def _eliminated(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the solution x of a @ x = b, and the pivots, (n, ...), whose product is the
    determinant.

    By Gauss and Jordan: in each step the greatest element that is left of a column leaves it 1.
    """
    size: Any = a.shape[-1]
    sizes = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if is_empty(a):
        return b.new_zeros([*sizes, *b.shape[-2:]]), a.new_ones([size, *sizes])
    both = torch.cat([a.expand(*sizes, -1, -1), b.expand(*sizes, -1, -1)], -1)

    def step(both: Tensor, here: Tensor) -> list[Tensor]:
        rows, place = torch.arange(both.shape[-2], device=both.device), here.reshape(1)
        column = both.index_select(-1, place).squeeze(-1)
        best = torch.where(rows >= here, column.abs(), -1.0).argmax(-1, keepdim=True)
        order = torch.where(rows == here, best, torch.where(rows == best, here, rows))
        both = both.gather(-2, order.unsqueeze(-1).expand(both.shape))
        row, column = both.index_select(-2, place), both.index_select(-1, place)
        pivot = row.index_select(-1, place)
        row = row / torch.where(pivot == 0, 1.0, pivot)
        is_row = (rows == here).unsqueeze(-1)
        turned = torch.where(best == here, 1.0, -1.0).to(both.dtype)
        return [torch.where(is_row, row, both - column * row), pivot.squeeze(-1) * turned]

    both, pivots = loop(step, [both], size)
    pivots = pivots.squeeze(-1)
    is_singular = (pivots == 0).any(0).unsqueeze(-1).unsqueeze(-1)
    return torch.where(is_singular, math.nan, both[..., size:]), pivots


def _inverse(a: Tensor) -> Tensor:
    size: Any = a.shape[-1]
    return _eliminated(a, torch.eye(size, dtype=a.dtype, device=a.device))[0]


def _inverse_ex(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    size: Any = a.shape[-1]
    found, pivots = _eliminated(a, torch.eye(size, dtype=a.dtype, device=a.device))
    return found, _first_of(pivots.movedim(0, -1) == 0)


def _solution(a: Tensor, b: Tensor, *, left: bool = True) -> Tensor:
    return _solution_ex(a, b, left=left)[0]


def _solution_ex(
    a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    if b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1]):
        found, info = _solution_ex(a, b.unsqueeze(-1))
        return found.squeeze(-1), info
    found, pivots = _eliminated(a, b) if left else _eliminated(a.mT, b.mT)
    return found if left else found.mT, _first_of(pivots.movedim(0, -1) == 0)


def _pivots(a: Tensor) -> Tensor:
    return _eliminated(a, a[..., :0])[1]


def _determinant(a: Tensor) -> Tensor:
    return _pivots(a).prod(0)


def _log_determinant(a: Tensor) -> tuple[Tensor, Tensor]:
    pivots = _pivots(a)
    return pivots.sgn().prod(0), pivots.abs().log().sum(0)


def _logdet(a: Tensor) -> Tensor:
    sign, log = _log_determinant(a)
    if a.is_complex():
        return sign.log() + log
    return torch.where(sign < 0, math.nan, log)


def _cholesky(a: Tensor, upper: bool = False) -> Tensor:
    """Returns the factor, a column after another; its other half is 0."""
    if upper:
        return _cholesky(a.mH).mH
    if is_empty(a):
        return a.clone()

    def step(factor: Tensor, here: Tensor, a: Tensor) -> list[Tensor]:
        rows, place = torch.arange(a.shape[-1], device=a.device), here.reshape(1)
        row = factor.index_select(-2, place)
        left = a.index_select(-1, place) - (factor * row.conj()).sum(-1, keepdim=True)
        root = left.index_select(-2, place)
        root = root.real.sqrt().to(a.dtype) if a.is_complex() else root.sqrt()
        below = rows.unsqueeze(-1) > here
        column = torch.where(below, left / root, 0.0)
        column = torch.where(rows.unsqueeze(-1) == here, root, column)
        factor = torch.where(rows == here, column, factor)
        return [factor, factor[..., :1, :1].clone()]

    return loop(step, [torch.zeros_like(a)], a.shape[-1], a)[0]


def _cholesky_ex(
    a: Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    factor = _cholesky(a, upper)
    diagonal = factor.diagonal(dim1=-2, dim2=-1)
    diagonal = diagonal.real if a.is_complex() else diagonal
    return factor, _first_of(~(diagonal > 0))


def _solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Returns what the rows give one after another; those below use those above."""
    if not left:
        found = _solve_triangular(a.mT, b.mT, upper=not upper, unitriangular=unitriangular)
        return found.mT
    if upper:
        turned = a.flip(-2, -1)
        found = _solve_triangular(turned, b.flip(-2), upper=False, unitriangular=unitriangular)
        return found.flip(-2)

    def step(x: Tensor, here: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
        rows, place = torch.arange(a.shape[-1], device=a.device), here.reshape(1)
        row = a.index_select(-2, place)
        before = torch.where(rows < here, row, 0.0)
        found = b.index_select(-2, place) - (before.mT * x).sum(-2, keepdim=True)
        if not unitriangular:
            found = found / row.index_select(-1, place)
        x = torch.where((rows == here).unsqueeze(-1), found, x)
        return [x, x[..., :1, :1].clone()]

    sizes = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    begin = torch.zeros([*sizes, *b.shape[-2:]], dtype=b.dtype, device=b.device)
    if is_empty(begin):
        return begin
    return loop(step, [begin], a.shape[-1], a, b)[0]


def _triangular_solve(
    b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    taken, is_upper = (a.mT, not upper) if transpose else (a, upper)
    found = _solve_triangular(taken, b, upper=is_upper, unitriangular=unitriangular)
    return found, a.clone()


def _cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    lower = factor.mH if upper else factor
    middle = _solve_triangular(lower, b, upper=False)
    return _solve_triangular(lower.mH, middle, upper=True)


def _cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    size: Any = factor.shape[-1]
    return _cholesky_solve(torch.eye(size, dtype=factor.dtype, device=factor.device), factor, upper)


def householder_qr(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """By Householder's reflections, whose signs are LAPACK's: one of nothing is none."""
    tall: Any = a.shape[-2]
    wide: Any = a.shape[-1]
    least = torch.sym_min(tall, wide)
    square = torch.eye(tall, dtype=a.dtype, device=a.device).expand(*a.shape[:-2], -1, -1)

    def step(q: Tensor, r: Tensor, here: Tensor) -> list[Tensor]:
        rows, place = torch.arange(r.shape[-2], device=r.device).unsqueeze(-1), here.reshape(1)
        column = torch.where(rows >= here, r.index_select(-1, place), 0.0)
        # Squares of what is large or small are not numbers of the type.
        most = column.abs().amax(-2, keepdim=True)
        column = column / torch.where((most == 0) | ~most.isfinite(), 1.0, most)
        first = column.index_select(-2, place)
        below = torch.where(rows > here, column, 0.0)
        real, across = (first.real, first.imag) if a.is_complex() else (first, None)
        length = (first.abs().square() + below.abs().square().sum(-2, keepdim=True)).sqrt()
        length = torch.where(real < 0, length, -length)
        apart = first - length
        normal = torch.where(rows == here, apart, below)
        is_some = (below != 0).any(-2, keepdim=True)
        if across is not None:
            is_some = is_some | (across != 0)
        product = torch.where(is_some, apart * length, 1.0)
        factor = torch.where(is_some, -1 / product, 0.0)
        r = r - normal * (factor * (normal.conj() * r).sum(-2, keepdim=True))
        q = q - (q * normal.mT).sum(-1, keepdim=True) * factor.conj() * normal.mH
        return [q, r, r[..., :1, :1].clone()]

    q, r = (square, a) if is_empty(a) else loop(step, [square, a], least)[:2]
    if mode != "complete":
        q, r = q[..., :least], r[..., :least, :]
    return (a.new_zeros([0]) if mode == "r" else q), r.triu()


def _reflections(v: Tensor, factors: Tensor) -> Tensor:
    tall: Any = v.shape[-2]
    wide: Any = v.shape[-1]
    square = torch.eye(tall, dtype=v.dtype, device=v.device)[:, :wide]
    return _reflected(v, factors, square.expand(*v.shape[:-2], -1, -1))


def _reflected(
    v: Tensor, factors: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Returns the product of `other` and the reflections that the columns of v hold below 1."""
    if not left:
        return _reflected(v, factors, other.mH, transpose=not transpose).mH
    count: Any = factors.shape[-1]
    if is_empty(factors) or is_empty(other):
        return other.clone()

    def step(other: Tensor, number: Tensor, v: Tensor, factors: Tensor) -> list[Tensor]:
        # The last is nearest to the other, but for the adjoint of all.
        here = number if transpose else factors.shape[-1] - 1 - number
        place = here.reshape(1)
        rows = torch.arange(v.shape[-2], device=v.device).unsqueeze(-1)
        normal = torch.where(rows > here, v.index_select(-1, place), 0.0)
        normal = torch.where(rows == here, 1.0, normal)
        factor = factors.index_select(-1, place).unsqueeze(-1)
        factor = factor.conj() if transpose else factor
        other = other - normal * (factor * (normal.conj() * other).sum(-2, keepdim=True))
        return [other, other[..., :1, :1].clone()]

    return loop(step, [other], count, v, factors)[0]


def _lu(
    a: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns both factors as one matrix, the row that each was exchanged with, counted from 1,
    and the first pivot that is 0.
    """
    factors, _, pivots = _factors(a, pivot)
    return factors, pivots, _first_of(factors.diagonal(dim1=-2, dim2=-1) == 0)


def _lu_alone(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor]:
    return _lu(a, pivot=pivot)[:2]


def _factors(a: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Returns both factors as one matrix, the order of the rows, and the exchanges."""
    tall: Any = a.shape[-2]
    least: Any = torch.sym_min(tall, a.shape[-1])
    order = torch.arange(tall, device=a.device).expand(*a.shape[:-2], -1)
    if is_empty(a):
        return a.clone(), order, a.new_zeros([*a.shape[:-2], least], dtype=torch.int32)

    def step(a: Tensor, order: Tensor, here: Tensor) -> list[Tensor]:
        rows, place = torch.arange(a.shape[-2], device=a.device), here.reshape(1)
        columns = torch.arange(a.shape[-1], device=a.device)
        best = here.expand(a.shape[:-2]).unsqueeze(-1)
        if pivot:
            column = a.index_select(-1, place).squeeze(-1)
            best = torch.where(rows >= here, column.abs(), -1.0).argmax(-1, keepdim=True)
            turned = torch.where(rows == here, best, torch.where(rows == best, here, rows))
            a = a.gather(-2, turned.unsqueeze(-1).expand(a.shape))
            order = order.gather(-1, turned)
        row, column = a.index_select(-2, place), a.index_select(-1, place)
        divisor = row.index_select(-1, place)
        column = column / torch.where(divisor == 0, 1.0, divisor)
        is_below = (rows > here).unsqueeze(-1)
        left = a - torch.where(is_below & (columns > here), column * row, 0.0)
        left = torch.where(is_below & (columns == here), column, left)
        return [left, order, best.squeeze(-1).to(torch.int32) + 1]

    factors, order, pivots = loop(step, [a, order], least)
    return factors, order, pivots.movedim(0, -1)


def _triangles(factors: Tensor) -> tuple[Tensor, Tensor]:
    tall: Any = factors.shape[-2]
    wide: Any = factors.shape[-1]
    least = torch.sym_min(tall, wide)
    square = torch.eye(tall, dtype=factors.dtype, device=factors.device)
    return factors[..., :least].tril(-1) + square[:, :least], factors[..., :least, :].triu()


def _permuted_factors(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    factors, order, _ = _factors(a, pivot)
    return (_permutation(order, a.dtype) if pivot else a.new_zeros([0])), *_triangles(factors)


def _permutation(order: Tensor, kind: torch.dtype) -> Tensor:
    """Returns the matrix that puts rows in this order where they come from."""
    rows = torch.arange(order.shape[-1], device=order.device)
    return (order.unsqueeze(-2) == rows.unsqueeze(-1)).to(kind)


def _order_of(pivots: Tensor, tall: Any) -> Tensor:
    """Returns the order that exchanges leave the rows in."""
    begin = torch.arange(tall, device=pivots.device).expand(*pivots.shape[:-1], -1)
    if is_empty(pivots):
        return begin.clone()

    def step(order: Tensor, here: Tensor, pivots: Tensor) -> list[Tensor]:
        rows = torch.arange(order.shape[-1], device=order.device)
        other = pivots.index_select(-1, here.reshape(1)).long() - 1
        turned = torch.where(rows == here, other, torch.where(rows == other, here, rows))
        return [order.gather(-1, turned), here.clone()]

    return loop(step, [begin], pivots.shape[-1], pivots)[0]


def _unpacked(
    factors: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    none = factors.new_zeros([0])
    both = _triangles(factors) if unpack_data else (none, none)
    if not unpack_pivots:
        return none, *both
    return _permutation(_order_of(pivots, factors.shape[-2]), factors.dtype), *both


def _lu_solve(
    factors: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    if not left:
        return _lu_solve(factors, pivots, b.mH, adjoint=not adjoint).mH
    sizes = torch.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    b = b.expand(*sizes, -1, -1)
    order = _order_of(pivots, factors.shape[-2]).expand(*sizes, -1)
    if not adjoint:
        b = b.gather(-2, order.unsqueeze(-1).expand(b.shape))
        middle = _solve_triangular(factors, b, upper=False, unitriangular=True)
        return _solve_triangular(factors, middle, upper=True)
    middle = _solve_triangular(factors.mH, b, upper=False)
    found = _solve_triangular(factors.mH, middle, upper=True, unitriangular=True)
    return found.gather(-2, order.argsort(-1).unsqueeze(-1).expand(b.shape))


def _exponential(a: Tensor) -> Tensor:
    """Returns Taylor's sum of 20 powers of a part of the matrix, squared again and again.

    The part's norm is at most 3 in f32 and 1 in f64: the sum is then exact but for rounding.
    """
    if is_empty(a):
        return a.clone()
    most = a.abs().sum(-2).amax(-1)
    limit = 1.0 if most.dtype is torch.float64 else 3.0
    # f64 has no greater powers of 2; what is not finite is squared no further.
    times = (most / limit).log2().ceil().clamp(0, 1100)
    times = torch.where(most.isfinite(), times, 0.0).unsqueeze(-1).unsqueeze(-1)
    x = a * torch.exp2(-times)
    size: Any = a.shape[-1]
    powers = [torch.eye(size, dtype=a.dtype, device=a.device), x, x @ x]
    powers += [powers[2] @ x, powers[2] @ powers[2]]
    total = powers[4] / math.factorial(20)
    for first in (16, 12, 8, 4, 0):
        part = sum(powers[each] / math.factorial(first + each) for each in range(4))
        total = part + (total if first == 16 else powers[4] @ total)

    def goes_on(number: Tensor, total: Tensor, times: Tensor) -> Tensor:
        return number < times.amax()

    def square(number: Tensor, total: Tensor, times: Tensor) -> list[Tensor]:
        return [number + 1, torch.where(number < times, total @ total, total)]

    number = torch.zeros((), dtype=torch.int64, device=a.device)
    carried = (number, total.clone(memory_format=torch.contiguous_format))
    return torch.ops.higher_order.while_loop(goes_on, square, carried, (times,))[1]


def norm(
    x: Tensor,
    ord: float | str | None = None,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Returns the norm of a vector or of matrices, as torch.linalg.norm tells them apart."""
    if ord is None or (dim is not None and len(dim) == 1):
        order: Any = 2 if ord is None else ord
        return torch.linalg.vector_norm(x, order, dim and [*dim], keepdim, dtype=dtype)
    if x.dim() == 1 and dim is None:
        return torch.linalg.vector_norm(x, float(ord), None, keepdim, dtype=dtype)
    return matrix_norm(x, ord, dim or LAST_TWO, keepdim, dtype=dtype)


def matrix_norm(
    x: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = LAST_TWO,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Returns the norm of matrices in these two dims."""
    x = x if dtype is None else x.to(dtype)
    row, column = (each % x.dim() for each in dim)
    if ord == "fro":
        return torch.linalg.vector_norm(x, 2, [row, column], keepdim)
    if ord in ("nuc", 2, -2):
        values = torch.linalg.svdvals(x.movedim((row, column), LAST_TWO))
        if ord == "nuc":
            found = values.sum(-1)
        else:
            found = (values.amax if float(ord) > 0 else values.amin)(-1)
        if keepdim:
            for axis in sorted((row, column)):
                found = found.unsqueeze(axis)
        return found
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"matrices have no norm {ord!r}")
    summed, other = (row, column) if abs(float(ord)) == 1 else (column, row)
    sums = x.abs().sum(summed, keepdim=True)
    found = (sums.amax if float(ord) > 0 else sums.amin)(other, keepdim=True)
    return found if keepdim else found.squeeze(dim=(row, column))

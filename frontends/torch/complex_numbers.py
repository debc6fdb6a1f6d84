"""Arithmetic of complex numbers by their parts, of which torch-mlir lowers little, or crashes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor

_ATEN = torch.ops.aten
_Parts = tuple[Any, Any]
# What is computed of each part by itself.
_OF_PARTS = (
    _ATEN.neg.default,
    _ATEN.sum.default,
    _ATEN.sum.dim_IntList,
    _ATEN.mean.default,
    _ATEN.mean.dim,
)
# What is asked of whether elements are zero.
_OF_TRUTHS = (
    *(_ATEN.logical_and.default, _ATEN.logical_or.default, _ATEN.logical_xor.default),
    _ATEN.logical_not.default,
)
_OF_PARTS_OF = {torch.complex64: torch.float32, torch.complex128: torch.float64}


def complex_number_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of operators of complex numbers; of others they are none."""
    found: dict[Any, Callable[..., Any]] = {
        _ATEN.abs.default: _abs,
        _ATEN.angle.default: _angle,
        _ATEN._conj.default: _conj,
        _ATEN.conj_physical.default: _conj,
        _ATEN._conj_physical.default: _conj,
        _ATEN.polar.default: _polar,
        _ATEN.exp.default: partial(_of_one, _exp),
        _ATEN.log.default: partial(_of_one, _log),
        _ATEN.log1p.default: partial(_of_one, _log1p),
        _ATEN.sqrt.default: partial(_of_one, _sqrt),
        _ATEN.reciprocal.default: partial(_of_one, lambda x: _quotient((1.0, 0.0), x)),
        _ATEN.sin.default: partial(_of_one, _sin),
        _ATEN.cos.default: partial(_of_one, _cos),
        _ATEN.tan.default: partial(_of_one, _tan),
        _ATEN.sinh.default: partial(_of_one, lambda x: _turned_back(_sin(_turned(x)))),
        _ATEN.cosh.default: partial(_of_one, lambda x: _cos(_turned(x))),
        _ATEN.tanh.default: partial(_of_one, _tanh),
        _ATEN.sigmoid.default: partial(_of_one, _sigmoid),
        _ATEN.asin.default: partial(_of_one, _asin),
        _ATEN.acos.default: partial(_of_one, _acos),
        _ATEN.atan.default: partial(_of_one, lambda x: _turned_back(_atanh(_turned(x)))),
        _ATEN.asinh.default: partial(_of_one, lambda x: _turned_back(_asin(_turned(x)))),
        _ATEN.acosh.default: partial(_of_one, _acosh),
        _ATEN.atanh.default: partial(_of_one, _atanh),
        _ATEN.exp2.default: partial(_of_one, lambda x: _exp(_scaled(x, math.log(2)))),
        _ATEN.expm1.default: partial(_of_one, _expm1),
        _ATEN.log2.default: partial(_of_one, lambda x: _scaled(_log(x), 1 / math.log(2))),
        _ATEN.log10.default: partial(_of_one, lambda x: _scaled(_log(x), 1 / math.log(10))),
        _ATEN.rsqrt.default: partial(_of_one, lambda x: _quotient((1.0, 0.0), _sqrt(x))),
        _ATEN.sgn.default: _sgn,
        _ATEN.prod.default: _product_of_all,
        _ATEN.prod.dim_int: _product_along,
        _ATEN.scalar_tensor.default: _of_number,
        _ATEN.ne.Tensor: _unequal,
        _ATEN.isnan.default: _isnan,
        _ATEN.full_like.default: _full_like,
        torch.ops.prims.convert_element_type.default: _converted,
    }
    for kind in ("Tensor", "Scalar"):
        found[getattr(_ATEN.add, kind)] = partial(_sum, 1)
        found[getattr(_ATEN.sub, kind)] = partial(_sum, -1)
        found[getattr(_ATEN.mul, kind)] = partial(_of_two, _times)
        found[getattr(_ATEN.div, kind)] = partial(_of_two, _quotient)
    for operator in _OF_PARTS:
        found[operator] = partial(each_part, operator)
    for operator in _OF_TRUTHS:
        found[operator] = partial(_of_truths, operator)
    return found


def is_complex(*values: Any) -> bool:
    """Returns whether one of the values is complex."""
    return any(x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex) for x in values)


def parts_of(x: Any) -> _Parts:
    """Returns the real and the imaginary part of a tensor or a number; 0.0 where a real one has
    none.
    """
    if not isinstance(x, Tensor):
        return x.real, x.imag
    if not x.is_complex():
        return x, 0.0
    both = torch.view_as_real(x)
    return both.select(-1, 0), both.select(-1, 1)


def _converted(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Converts to and from complex types, and to bool: torch-mlir reads true as -1, crashes for a
    result of bool, and has no complex128. Nor does it convert floats of a byte into each other.
    """
    if x.dtype != dtype and all(
        each.is_floating_point and each.itemsize == 1 for each in (x.dtype, dtype)
    ):
        return x.float().to(dtype)
    if x.is_complex() and not dtype.is_complex:
        real, imaginary = parts_of(x)
        return (real != 0) | (imaginary != 0) if dtype is torch.bool else real.to(dtype)
    kind = _OF_PARTS_OF.get(dtype)
    if kind is None or x.dtype is dtype:
        return NotImplemented
    if x.is_complex():
        return torch.complex(*(part.to(kind) for part in parts_of(x)))
    real = x.to(kind)
    return torch.complex(real, torch.zeros_like(real))


def _abs(x: Tensor) -> Tensor:
    if not x.is_complex():
        return NotImplemented
    return torch.hypot(*parts_of(x))


def _angle(x: Tensor) -> Tensor:
    if not x.is_complex():
        half_turn = torch.where(x.isnan(), x, torch.where(x < 0, math.pi, 0.0))
        return half_turn.to(x.dtype if x.is_floating_point() else torch.get_default_dtype())
    real, imaginary = parts_of(x)
    return torch.atan2(imaginary, real)


def _polar(size: Tensor, angle: Tensor) -> Tensor:
    return torch.complex(size * angle.cos(), size * angle.sin())


def _conj(x: Tensor) -> Tensor:
    if not x.is_complex():
        return NotImplemented
    real, imaginary = parts_of(x)
    return torch.complex(real, -imaginary)


def _of_one(function: Callable[[_Parts], _Parts], x: Tensor) -> Tensor:
    return torch.complex(*function(parts_of(x))) if x.is_complex() else NotImplemented


def _exp(x: _Parts) -> _Parts:
    size = x[0].exp()
    # A real number's is real, also where it is infinite.
    return size * x[1].cos(), torch.where(x[1] == 0, x[1], size * x[1].sin())


def _log(x: _Parts) -> _Parts:
    return torch.hypot(*x).log(), torch.atan2(x[1], x[0])


def _log1p(x: _Parts) -> _Parts:
    """Of what is small by what its square is more than 1."""
    real, imaginary = x
    near = torch.log1p(real * (2 + real) + imaginary * imaginary) / 2
    is_small = real.abs() + imaginary.abs() < 0.5
    far = torch.hypot(real + 1, imaginary).log()
    return torch.where(is_small, near, far), torch.atan2(imaginary, real + 1)


def _sqrt(x: _Parts) -> _Parts:
    """Returns the root of the greater sum first: the other part is a quotient, without
    cancellation.
    """
    real, imaginary = x
    root = ((torch.hypot(real, imaginary) + real.abs()) / 2).sqrt()
    other = torch.where(root == 0, 0.0, imaginary.abs() / (2 * root))
    other = torch.where(imaginary.isinf(), math.inf, other)
    is_right = real >= 0
    return torch.where(is_right, root, other), torch.copysign(
        torch.where(is_right, other, root), imaginary
    )


def _sin(x: _Parts) -> _Parts:
    return x[0].sin() * x[1].cosh(), x[0].cos() * x[1].sinh()


def _cos(x: _Parts) -> _Parts:
    return x[0].cos() * x[1].cosh(), -x[0].sin() * x[1].sinh()


def _tan(x: _Parts) -> _Parts:
    return _turned_back(_tanh(_turned(x)))


def _tanh(x: _Parts) -> _Parts:
    """Without powers of what is large, and without 1 less a square that is near 1."""
    along, across = x[0].tanh(), x[1].tan()
    least = x[0].cosh().reciprocal()
    size = 1 + (along * across).square()
    return along * (1 + across.square()) / size, across * least.square() / size


def _roots(x: _Parts) -> tuple[_Parts, _Parts]:
    """Returns the roots of 1 - x and of 1 + x: what is made of them has no cancellation."""
    return _sqrt((1 - x[0], -x[1])), _sqrt((1 + x[0], x[1]))


def _asin(x: _Parts) -> _Parts:
    (a, b), (c, d) = _roots(x)
    return torch.atan2(x[0], a * c - b * d), (a * d - b * c).asinh()


def _acos(x: _Parts) -> _Parts:
    (a, b), (c, d) = _roots(x)
    return 2 * torch.atan2(a, c), (c * b - d * a).asinh()


def _acosh(x: _Parts) -> _Parts:
    (a, b), (c, d) = _sqrt((x[0] - 1, x[1])), _sqrt((x[0] + 1, x[1]))
    return (a * c + b * d).asinh(), 2 * torch.atan2(b, c)


def _atanh(x: _Parts) -> _Parts:
    real, imaginary = x
    size = real.abs()
    ratio = 4 * size / ((1 - size).square() + imaginary.square())
    turned = torch.atan2(2 * imaginary, (1 - size) * (1 + size) - imaginary.square())
    return torch.copysign(ratio.log1p() / 4, real), turned / 2


def _turned(x: _Parts) -> _Parts:
    return -x[1], x[0]


def _turned_back(x: _Parts) -> _Parts:
    return x[1], -x[0]


def _scaled(x: _Parts, factor: float) -> _Parts:
    return x[0] * factor, x[1] * factor


def _expm1(x: _Parts) -> _Parts:
    real, imaginary = x
    less = -2 * (imaginary / 2).sin().square()
    return real.expm1() * imaginary.cos() + less, real.exp() * imaginary.sin()


def _sigmoid(x: _Parts) -> _Parts:
    real, imaginary = _exp((-x[0], -x[1]))
    return _quotient((1.0, 0.0), (1 + real, imaginary))


def _sgn(x: Tensor) -> Tensor:
    if not x.is_complex():
        return NotImplemented
    size = x.abs()
    return x / torch.where(size == 0, 1.0, size)


def _product_of_all(x: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    return _product_along(x.reshape(-1), 0, dtype=dtype) if is_complex(x) else NotImplemented


def _product_along(
    x: Tensor, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    """torch-mlir ends the process. Halves are multiplied by each other, again and again."""
    if not x.is_complex():
        return NotImplemented
    if not x.dim():
        return x.clone()
    size: int | SymInt = x.shape[dim]
    if isinstance(size, SymInt):
        found = in_steps(torch.mul, x, dim).select(dim, -1)
    elif not size:
        found = torch.ones_like(x.sum(dim))
    else:
        found = x.movedim(dim, -1)
        while size > 1:
            half = size // 2
            both = found[..., :half] * found[..., half : 2 * half]
            found = torch.cat([both, found[..., 2 * half :]], -1) if size % 2 else both
            size -= half
        found = found.squeeze(-1)
    return found.unsqueeze(dim) if keepdim else found


def in_steps(combine: Callable[[Tensor, Tensor], Tensor], x: Tensor, dim: int) -> Tensor:
    """Returns each element combined with all before it, in steps of 1, 2, 4, ... elements.

    Where their number is open the steps are a loop of the host.
    """
    size: int | SymInt = x.shape[dim]
    values, step = x.movedim(dim, -1), 1
    if isinstance(size, SymInt):
        first = torch.ones((), dtype=torch.int64, device=x.device)

        def next_step(step: Tensor, values: Tensor) -> list[Tensor]:
            count: Any = values.shape[-1]
            places = torch.arange(count, device=step.device)
            before = values.index_select(-1, (places - step).clamp(min=0))
            return [step * 2, torch.where(places >= step, combine(before, values), values)]

        carried = (first, values.contiguous())
        _, values = torch.ops.higher_order.while_loop(_goes_on, next_step, carried, ())
        return values.movedim(-1, dim)
    while step < size:
        merged = combine(values[..., :-step], values[..., step:])
        values = torch.cat([values[..., :step], merged], -1)
        step *= 2
    return values.movedim(-1, dim)


def _goes_on(step: Tensor, values: Tensor) -> Tensor:
    return step < values.shape[-1]


def _of_number(value: Any, *, dtype: torch.dtype | None = None, **given: Any) -> Tensor:
    """torch-mlir's importer takes no complex number."""
    if dtype is None or not dtype.is_complex:
        return NotImplemented
    return torch.full((), value, dtype=dtype)


def _of_truths(operator: Any, *given: Tensor) -> Tensor:
    if not is_complex(*given):
        return NotImplemented
    return operator(*(each.bool() for each in given))


def _of_two(function: Callable[[_Parts, _Parts], _Parts], x: Any, y: Any) -> Tensor:
    if not is_complex(x, y):
        return NotImplemented
    return _complex(function(parts_of(x), parts_of(y)), torch.result_type(x, y))


def _times(x: _Parts, y: _Parts) -> _Parts:
    (a, b), (c, d) = x, y
    if _is_zero(d):
        return a * c, b * c
    if _is_zero(b):
        return a * c, a * d
    return a * c - b * d, a * d + b * c


def _quotient(x: _Parts, y: _Parts) -> _Parts:
    (a, b), (c, d) = x, y
    if _is_zero(d):
        return a / c, b / c
    if not isinstance(c, Tensor):
        # A known number: its reciprocal is one, too.
        known = 1 / complex(c, d)
        return _times(x, (known.real, known.imag))
    # Without squares of what is large.
    most = torch.maximum(c.abs(), d.abs())
    c, d = c / most, d / most
    size = (c * c + d * d) * most
    return (a * c + b * d) / size, (b * c - a * d) / size


def _sum(sign: int, x: Any, y: Any, *, alpha: Any = 1) -> Tensor:
    if isinstance(y, bool) and x.dtype is torch.bool:
        # torch-mlir adds truths and a number as numbers of one bit.
        return torch.ones_like(x) if y and alpha else x.clone()
    if not is_complex(x, y, alpha):
        return NotImplemented
    (a, b), (c, d) = parts_of(x), _times(parts_of(y), parts_of(alpha))
    return _complex((a + sign * c, b + sign * d), torch.result_type(x, y))


def power_of_number(x: Tensor, exponent: Any) -> Tensor:
    """Returns a complex tensor to the power of a number: by products where that is a
    small integer.
    """
    whole = int(exponent.real) if exponent == int(exponent.real) else None
    if exponent == 0:
        return torch.ones_like(x)
    if whole is None or not 0 < abs(whole) <= 8:
        result = torch.exp(torch.log(x) * exponent)
        return torch.where(x == 0, 0.0, result) if exponent.real > 0 else result
    result = x
    for _ in range(abs(whole) - 1):
        result = result * x
    return result if whole > 0 else torch.reciprocal(result)


def product_of_complex(x: Tensor, y: Tensor) -> Tensor:
    """One product of numbers: the parts of a row beside one another, of a column twice."""
    if not is_complex(x, y):
        return NotImplemented
    (a, b), (c, d) = parts_of(x), parts_of(y)
    upper, lower = torch.cat([c, d], -1), torch.cat([-d, c], -1)
    both = torch.cat([a, b], -1) @ torch.cat([upper, lower], -2)
    real, imaginary = both.split([c.shape[-1], c.shape[-1]], -1)
    return torch.complex(real, imaginary)


def _unequal(x: Any, y: Any) -> Tensor:
    if not is_complex(x, y):
        return NotImplemented
    (a, b), (c, d) = parts_of(x), parts_of(y)
    return (a != c) | (b != d)


def _isnan(x: Tensor) -> Tensor:
    return _unequal(x, x)


def logaddexp_of_complex(x: Tensor, y: Tensor) -> Tensor:
    """Without powers of what is large: the greater real part is left out of both."""
    is_greater = parts_of(x)[0] >= parts_of(y)[0]
    most = torch.where(is_greater, x, y)
    least = torch.where(is_greater, y, x)
    return most + torch.log1p(torch.exp(least - most))


def _full_like(x: Tensor, value: Any, *, dtype: torch.dtype | None = None, **given: Any) -> Tensor:
    """torch-mlir fills with a number of f64."""
    kind = x.dtype if dtype is None else dtype
    if not kind.is_complex:
        return NotImplemented
    real, imaginary = (
        torch.full(x.shape, float(part), dtype=kind.to_real(), device=x.device)
        for part in (value.real, value.imag)
    )
    return torch.complex(real, imaginary)


def each_part(operator: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """What an operator gives of each part of complex numbers, as one."""
    if not x.is_complex():
        return NotImplemented
    # The type that is asked for is that of complex numbers.
    kwargs.pop("dtype", None)
    return torch.complex(*(operator(part, *args, **kwargs) for part in parts_of(x)))


def _is_zero(x: Any) -> bool:
    return not isinstance(x, Tensor) and x == 0


def _complex(parts: _Parts, kind: torch.dtype) -> Tensor:
    real: Sequence[Any] = [
        part if isinstance(part, Tensor) else torch.full((), float(part)) for part in parts
    ]
    of_parts = _OF_PARTS_OF.get(kind)
    if of_parts is None:
        return NotImplemented
    return torch.complex(*torch.broadcast_tensors(*(part.to(of_parts) for part in real)))

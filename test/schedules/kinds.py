"""What reductions of each kind give, computed with torch."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf, nan

import torch

FLOAT_KINDS = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")
FLOAT_SCANS = (*FLOAT_KINDS, "logaddexp")
INTEGER_KINDS = ("addi", "muli", "maxsi", "maxui", "minsi", "minui", "andi", "ori", "xori")
EXTREMES = ("maximumf", "minimumf", "maxnumf", "minnumf")
INTEGER_EXTREMES = ("maxsi", "maxui", "minsi", "minui")

COMBINE: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "addf": torch.add,
    "mulf": torch.mul,
    "maximumf": torch.maximum,
    "minimumf": torch.minimum,
    "maxnumf": torch.fmax,
    "minnumf": torch.fmin,
    "logaddexp": torch.logaddexp,
    "addi": torch.add,
    "muli": torch.mul,
    "maxsi": torch.maximum,
    "minsi": torch.minimum,
    "maxui": lambda x, y: torch.where(_flipped(x) > _flipped(y), x, y),
    "minui": lambda x, y: torch.where(_flipped(x) < _flipped(y), x, y),
    "andi": torch.bitwise_and,
    "ori": torch.bitwise_or,
    "xori": torch.bitwise_xor,
}
# As a signed number of one bit, true is -1.
_COMBINE_TRUTHS = {
    **COMBINE,
    "addi": torch.logical_xor,
    "muli": torch.logical_and,
    "maxsi": torch.logical_and,
    "minsi": torch.logical_or,
    "maxui": torch.logical_or,
    "minui": torch.logical_and,
}
_FLOAT_NEUTRALS: dict[str, float] = dict(
    zip(FLOAT_SCANS, (0.0, 1.0, -inf, inf, nan, nan, -inf), strict=True)
)


def _flipped(x: torch.Tensor) -> torch.Tensor:
    """What compares as the unsigned number of the same bits."""
    return x ^ torch.iinfo(x.dtype).min


def neutral(kind: str, dtype: torch.dtype) -> int | float:
    if dtype.is_floating_point:
        return _FLOAT_NEUTRALS[kind]
    if dtype == torch.bool:
        low, high = -1, 0
    else:
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    plain = {"addi": 0, "muli": 1, "andi": -1, "ori": 0, "xori": 0, "maxui": 0, "minui": -1}
    return {**plain, "maxsi": low, "minsi": high}[kind]


def fold(kind: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    """The reduction of a dim."""
    rows = list(x.unbind(dim))
    shape = [size for axis, size in enumerate(x.shape) if axis != dim % x.ndim]
    start = torch.full(shape, neutral(kind, x.dtype)).to(x.dtype)
    combine = _COMBINE_TRUTHS if x.dtype == torch.bool else COMBINE
    return reduce(combine[kind], rows, start)


def place(kind: str, x: torch.Tensor) -> torch.Tensor:
    """Where the extreme of the last dim is first."""
    most = fold(kind, x, -1)[..., None]
    same = (x == most) | (x.isnan() & most.isnan())
    count = x.shape[-1]
    places = torch.where(same, torch.arange(count), count)
    return places.amin(-1) if count else torch.zeros(x.shape[:-1], dtype=torch.int64)

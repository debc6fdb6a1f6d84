"""Functions that torch.export cannot see through: it fixes sizes, or asks for elements."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from itertools import combinations, combinations_with_replacement
from typing import Any
from unittest import mock

import torch
from torch import SymInt, Tensor
from torch._prims_common import is_contiguous_or_false
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ...compiler.errors import UnsupportedError
from .grouped import grouped_mm
from .jacobi import least_squares
from .losses import ctc_loss
from .user_errors import stack_position


class ReplacedFunctions(TorchFunctionMode):
    """Replaces calls of some functions by others that return the same and keep sizes open.

    `stand_ins` maps ids of tensors to the tensors that calls take in their place. Making a packed
    sequence raises an error here: torch.export would fail later, with a less helpful message.
    """

    def __init__(self, stand_ins: Callable[[], Mapping[int, Tensor]]) -> None:
        super().__init__()
        self._stand_ins = stand_ins

    def _given(self, x: Any) -> Any:
        return self._stand_ins().get(id(x), x)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "_pack_padded_sequence":
            raise UnsupportedError(
                "packed sequences are not supported: their sizes are elements of a tensor",
                position=stack_position("".join(traceback.format_stack())),
                op="aten._pack_padded_sequence",
                stage="import",
                hint="give the layer padded sequences, and mask what it returns",
            )
        kwargs = kwargs or {}
        if self._stand_ins():
            args, kwargs = pytree.tree_map_only(Tensor, self._given, (args, kwargs))
        return (_REPLACED.get(func) or func)(*args, **kwargs)


def _fill_diagonal(x: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """torch writes it through another view of the memory."""
    sizes: list[Any] = list(x.shape)
    if len(sizes) < 2:
        return x.fill_diagonal_(fill_value, wrap)
    first, *others = torch.meshgrid(
        *(torch.arange(size, device=x.device) for size in sizes), indexing="ij"
    )
    if wrap and len(sizes) == 2:
        # After a row that has none it begins anew.
        first = first % (sizes[1] + 1)
    is_here = [first == each for each in others]
    return x.masked_fill_(torch.stack(is_here).all(0), fill_value)


def _linspace(start: Any, end: Any, steps: Any, **given: Any) -> Tensor:
    """From both ends to the middle."""
    kind = given.get("dtype") or torch.get_default_dtype()
    count: Any = steps
    is_known = not isinstance(steps, SymInt) or not kind.is_floating_point
    if is_known or any(isinstance(each, complex | Tensor) for each in (start, end)):
        return torch.linspace(start, end, count, **given)
    wide = torch.float64 if kind is torch.float64 else torch.float32
    # Numbers may be open sizes too.
    numbers: list[Any] = [start, end, count - 1]
    first, last, most = (
        torch.full((), each, dtype=wide, device=given.get("device")) for each in numbers
    )
    place = torch.arange(count, dtype=wide, device=given.get("device"))
    step = (last - first) / most.clamp(min=1)
    first, last = first + step * place, last - step * (most - place)
    return torch.where(place <= most / 2, first, last).to(kind)


def _interpolate(input: Tensor, size: Any, scale_factor: Any, **more: Any) -> Tensor:
    """Of an open size torch asks whether a multiple, computed in f64, is a whole number."""
    factors: list[Any] = [scale_factor] * (input.dim() - 2)
    if isinstance(scale_factor, (tuple, list)):
        factors = [*scale_factor]
    sizes: list[Any] = list(input.shape[2:])
    is_open = any(isinstance(each, SymInt) for each in sizes)
    if size is None and is_open and all(factor == int(factor) for factor in factors):
        size = [each * int(factor) for each, factor in zip(sizes, factors, strict=True)]
        scale_factor, more["recompute_scale_factor"] = None, None
    return functional.interpolate(input, size, scale_factor, **more)


def _gaussian_loss(*args: Any, **kwargs: Any) -> Tensor:
    """torch looks whether a variance is negative."""
    with mock.patch.object(torch, "any", return_value=False):
        return functional.gaussian_nll_loss(*args, **kwargs)


def _contiguous(x: Tensor, **given: Any) -> Tensor:
    """torch asks whether a tensor that may lie without gaps does; how it lies is no matter here."""
    is_open = any(isinstance(size, SymInt) for size in (*x.shape, *x.stride()))
    if given or not is_open or is_contiguous_or_false(x):
        return x.contiguous(**given)
    return x.clone(memory_format=torch.contiguous_format)


def _arange(*numbers: Any, **given: Any) -> Tensor:
    """Of whole numbers, some of which are floats and some open, torch asks how many there are."""
    named = {each: given.pop(each) for each in ("start", "end", "step") if each in given}
    every = [*numbers, *named.values()]
    floats: list[float] = [each for each in every if isinstance(each, float)]
    is_open = any(isinstance(each, SymInt) for each in every)
    if not is_open or not floats or not all(each.is_integer() for each in floats):
        return torch.arange(*numbers, **named, **given)

    def whole(each: Any) -> Any:
        return int(each) if isinstance(each, float) else each

    kind = given.pop("dtype", None) or torch.get_default_dtype()
    places = {name: whole(each) for name, each in named.items()}
    first, last, step = _bounds(*map(whole, numbers), **places)
    if step not in (1, -1):
        return torch.arange(first, last, step, **given).to(kind)
    # As many as torch would take a quotient for.
    return (first + step * torch.arange((last - first) * step, **given)).to(kind)


def _masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """Broadcasts first: torch takes the number of elements of x for the greatest possible."""
    return torch.masked_select(*torch.broadcast_tensors(x, mask))


def _least_squares(
    a: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> Any:
    """torch cannot tell the sizes of what it returns, which depend on the driver."""
    if driver not in (None, "gelsy"):
        raise UnsupportedError(
            f"lstsq has no driver '{driver}'",
            position=stack_position("".join(traceback.format_stack())),
            op="aten.linalg_lstsq",
            stage="import",
            hint="leave the driver out; what the solution leaves is b - a @ solution",
        )
    returned: Any = vars(torch.return_types)["linalg_lstsq"]
    return returned(least_squares(a, b, rcond))


def _set_data(x: Tensor, value: Tensor) -> None:
    """torch.export would go on with what the tensor had."""
    raise UnsupportedError(
        "a model cannot assign to the attribute 'data' of a tensor",
        position=stack_position("".join(traceback.format_stack())),
        op="Tensor.data",
        stage="import",
        hint="write into its memory, x.data.copy_(value), or give the value another name",
    )


def _bounds(start: Any, end: Any = None, step: Any = 1) -> tuple[Any, Any, Any]:
    return (0, start, step) if end is None else (start, end, step)


def _combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """torch selects them of all tuples, by a mask."""
    count: Any = x.shape[0]
    if isinstance(count, SymInt):
        return torch.combinations(x, r, with_replacement)
    every = (combinations_with_replacement if with_replacement else combinations)(range(count), r)
    return x[torch.tensor([*every], dtype=torch.int64, device=x.device).reshape(-1, r)]


def _set_item(x: Tensor, index: Any, value: Any) -> None:
    """Of a tensor without dims among the indices torch asks for the number."""
    every: list[Any] = [*index] if isinstance(index, tuple) else [index]
    places = [each for each in every if _is_place(each)]
    if not places or not all(_is_basic(each) or _is_place(each) for each in every):
        x[index] = value
        return
    kept = tuple(slice(None) if _is_place(each) else each for each in every)
    part = x[kept]
    # Which dims of that part the places are of: numbers leave none.
    others = sum(isinstance(each, (int, slice, Tensor)) for each in every)
    wanted: list[Tensor | None] = []
    for each in every:
        if each is Ellipsis:
            wanted += [None] * (x.dim() - others)
        elif not isinstance(each, int):
            wanted.append(each if isinstance(each, Tensor) else None)
    if not isinstance(value, Tensor):
        value = torch.full((), value, dtype=x.dtype, device=x.device)
    while value.dim() > part.dim() - len(places) and value.shape[0] == 1:
        value = value.squeeze(0)
    torch.ops.aten.index_put_.default(part, wanted, value.to(x.dtype))


def _is_place(index: Any) -> bool:
    if not isinstance(index, Tensor) or index.dim():
        return False
    return index.dtype in (torch.int8, torch.int16, torch.int32, torch.int64)


def _is_basic(index: Any) -> bool:
    return (
        index is None
        or index is Ellipsis
        or (isinstance(index, (int, slice)) and not isinstance(index, bool))
    )


_DATA: Any = Tensor.data
_REPLACED: dict[Any, Callable[..., Any]] = {
    # torch.export takes what comes of the attribute for a constant.
    _DATA.__get__: Tensor.detach,
    _DATA.__set__: _set_data,
    Tensor.__setitem__: _set_item,
    Tensor.fill_diagonal_: _fill_diagonal,
    Tensor.contiguous: _contiguous,
    torch.arange: _arange,
    torch.combinations: _combinations,
    torch.linspace: _linspace,
    torch.masked_select: _masked_select,
    Tensor.masked_select: _masked_select,
    torch.linalg.lstsq: _least_squares,
    functional.interpolate: _interpolate,
    functional.gaussian_nll_loss: _gaussian_loss,
    # torch.export takes only elements of bf16. torch.nn.functional.grouped_mm calls this.
    getattr(torch, "_grouped_mm", None): grouped_mm,
    functional.ctc_loss: ctc_loss,
    torch.ctc_loss: ctc_loss,
}

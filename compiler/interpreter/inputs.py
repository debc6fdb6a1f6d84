"""Checking a program's inputs against what it declares."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects.hir.element_types import ElementType
from ...dialects.hir.layout import DYNAMIC, has_identity_layout
from ...dialects.mlir import ir
from ..errors import InputError
from . import fault
from .buffer import Buffer, packed_strides
from .dtypes import bits_of, dtype_of, element_type_of
from .memory import Allocation, Owner
from .outline import Named, Outline
from .shapes import text_of
from .torch_import import torch


def bind_inputs(outline: Outline, values: Sequence[Any], device: torch.device) -> list[Any]:
    """Returns the inputs as a running program holds them. Raises InputError for the first that is
    wrong.
    """
    bound: list[Any] = []
    sizes: dict[str, tuple[int, str]] = {}
    for named, value in zip(outline.inputs, values, strict=True):
        what = f"input '{named.name}'"
        if isinstance(named.type, ir.MemRefType):
            buffer = buffer_of(what, named, value, device, Owner.INPUT)
            _check_named_sizes(what, named, buffer, sizes)
            bound.append(buffer)
        else:
            bound.append(_scalar(what, named.type, value))
    return bound


def buffer_of(what: str, named: Named, value: Any, device: torch.device, owner: Owner) -> Buffer:
    """Returns a caller's tensor as a buffer, checked against the declared type."""
    declared = named.type
    assert isinstance(declared, ir.MemRefType)
    element = element_type_of(declared)
    assert element is not None
    if not isinstance(value, torch.Tensor):
        wrong(what, f"expected a tensor for {declared}, got {type(value).__name__}")
    if value.layout != torch.strided or value.is_conj() or value.is_neg():
        wrong(
            what,
            "expected a tensor whose memory has its elements, strided",
            hint="tensor.to_dense(), resolve_conj() or resolve_neg() makes one",
        )
    if value.dtype != dtype_of(element):
        wrong(what, f"expected elements of {element.name} ({dtype_of(element)}), got {value.dtype}")
    if value.device != device:
        wrong(what, f"expected a tensor on {device}, got one on {value.device}")
    if value.dim() != declared.rank:
        wrong(
            what,
            f"expected {declared.rank} dims ({text_of(_declared_sizes(named))}), got "
            f"{value.dim()} ({text_of(value.shape)})",
        )
    _check_sizes(what, named, value)
    if owner is Owner.INPUT:
        _check_strides(what, declared, value)
    if value.numel() and value.data_ptr() % max(named.alignment, 1):
        wrong(
            what,
            f"expected memory aligned to {named.alignment} bytes, got address "
            f"{value.data_ptr():#x}",
        )
    places = zip(value.shape, value.stride(), strict=True)
    span = sum((size - 1) * stride for size, stride in places) + 1 if value.numel() else 0
    size = span * element.bytes
    written = None if owner is Owner.INPUT else torch.zeros(size, dtype=torch.bool)
    allocation = Allocation(what, owner, size, value.data_ptr(), written=written)
    return Buffer(value.detach(), element, allocation)


def wrong(what: str, message: str, hint: str | None = None) -> Any:
    """Raises the InputError of a value that the caller gave."""
    raise InputError(f"{what}: {message}", stage=fault.STAGE, hint=hint)


def _declared_sizes(named: Named) -> list[int | None]:
    assert isinstance(named.type, ir.MemRefType)
    return [None if size == DYNAMIC else size for size in named.type.shape]


def _check_sizes(what: str, named: Named, value: torch.Tensor) -> None:
    for dim, (size, actual) in enumerate(zip(_declared_sizes(named), value.shape, strict=True)):
        declared = named.sizes[dim] if dim < len(named.sizes) else None
        expected = declared if isinstance(declared, int) else size
        if expected is not None and expected != actual:
            wrong(what, f"dim {dim}: expected size {expected}, got {actual}")


def check_sizes_of_call(outline: Outline, values: Sequence[Any]) -> None:
    """Fails where the inputs that a program is called with have not the sizes it declares."""
    sizes: dict[str, tuple[int, str]] = {}
    for named, value in zip(outline.inputs, values, strict=True):
        if isinstance(value, Buffer):
            what = f"input '{named.name}' of @{outline.name}"
            _check_sizes(what, named, value.tensor)
            _check_named_sizes(what, named, value, sizes)


def _check_named_sizes(
    what: str, named: Named, buffer: Buffer, sizes: dict[str, tuple[int, str]]
) -> None:
    for dim, (size, actual) in enumerate(zip(named.sizes, buffer.sizes, strict=False)):
        if not isinstance(size, str):
            continue
        known, origin = sizes.setdefault(size, (actual, f"dim {dim} of {what}"))
        if known != actual:
            wrong(what, f"dim {dim}: expected {size} = {known}, as {origin} has, got {actual}")


def _check_strides(what: str, declared: ir.MemRefType, value: torch.Tensor) -> None:
    """Fails where the declared layout has a stride that the tensor's is not.

    The stride of a dim of size 1 does not matter, nor any where there is no element.
    """
    if value.numel() == 0:
        return
    packed = has_identity_layout(declared)
    expected = packed_strides(value.shape) if packed else declared.get_strides_and_offset()[0]
    for size, stride, actual in zip(value.shape, expected, value.stride(), strict=True):
        if size != 1 and stride not in (DYNAMIC, actual):
            kind = "a packed buffer, strides" if packed else "strides"
            shown = [None if item == DYNAMIC else item for item in expected]
            wrong(
                what,
                f"expected {kind} {_show(shown)}, got {_show(value.stride())}",
                hint="tensor.contiguous() makes a packed copy; memref<..., strided<[?, ...]>> "
                "takes any strides",
            )


def _show(strides: Sequence[int | None]) -> str:
    return "[" + ", ".join("?" if item is None else str(item) for item in strides) + "]"


def _scalar(what: str, declared: ir.Type, value: Any) -> int | float | bool:
    element = element_type_of(declared)
    if element is None:
        return wrong(what, f"a value of type {declared} cannot be handed in")
    if isinstance(value, torch.Tensor):
        if value.dim() != 0:
            wrong(what, f"expected a number for {declared}, got a tensor of {value.dim()} dims")
        value = value.item()
    elif isinstance(value, np.generic):
        value = value.item()
    if element.is_float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            wrong(what, f"expected a number for {declared}, got {type(value).__name__} {value!r}")
        return _rounded(float(value), element)
    if element.kind == "truth":
        if value not in (0, 1):
            wrong(what, f"expected true or false, got {value!r}")
        return bool(value)
    if isinstance(value, bool) or not isinstance(value, int):
        wrong(what, f"expected a whole number for {declared}, got {value!r}")
    bits = bits_of(element)
    least, beyond = (
        (0, 1 << bits)
        if element.kind == "unsigned"
        else (
            -(1 << bits - 1),
            1 << bits - 1,
        )
    )
    if not least <= value < beyond:
        wrong(what, f"expected a number of {declared}, {least} to {beyond - 1}, got {value}")
    return value


def _rounded(value: float, element: ElementType) -> float:
    if element.name == "f64":
        return value
    if element.name == "f32":
        try:
            return struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    from .scalar_numbers import round_float

    return round_float(value, element.name)

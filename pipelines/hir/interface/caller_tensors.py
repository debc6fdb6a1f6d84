"""The caller's tensors as a program uses them; the support library has checked them before."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from .code import Code
from .signature import OPEN, Value
from .tensor import Tensor, tensor_at


@dataclass(frozen=True)
class CallerTensor:
    """One tensor: `first` is the address of its first element, `sizes` and `strides` are i64,
    constants where the type has them. `given` is whether an output was handed in, None of an input
    and of a scalar.
    """

    value: Value
    tensor: Tensor
    data: ir.Value
    first: ir.Value
    sizes: tuple[ir.Value, ...]
    strides: tuple[ir.Value, ...]
    given: ir.Value | None


def read_tensor(
    code: Code, tensors: ir.Value, place: int, value: Value, *, is_output: bool = False
) -> CallerTensor:
    """Reads tensor number `place` of an array of pointers to tensors."""
    tensor = tensor_at(code, tensors, place)
    data = tensor.data
    first = code.after(data, tensor.byte_offset)
    if not value.is_buffer:
        return CallerTensor(value, tensor, data, first, (), (), None)
    given = code.negate(code.is_null(data)) if is_output else None
    sizes = _sizes(code, tensor, value)
    strides = _strides(code, tensor, value, sizes, is_output=is_output)
    return CallerTensor(value, tensor, data, first, tuple(sizes), tuple(strides), given)


def _sizes(code: Code, tensor: Tensor, value: Value) -> list[ir.Value]:
    if OPEN not in value.sizes:
        return [code.i64(size) for size in value.sizes]
    shape = tensor.shape
    return [
        _number(code, shape, axis) if size == OPEN else code.i64(size)
        for axis, size in enumerate(value.sizes)
    ]


def _strides(
    code: Code, tensor: Tensor, value: Value, sizes: Sequence[ir.Value], *, is_output: bool
) -> list[ir.Value]:
    """Returns the strides: the tensor's own where the type leaves them open, and an output's."""
    if not value.rank:
        return []
    packed = [code.i64(1)]
    for size in reversed(sizes[1:]):
        packed.insert(0, code.multiply(packed[0], size))
    declared = (OPEN,) * value.rank if is_output else value.strides
    if declared is None or OPEN not in declared:
        return packed if declared is None else [code.i64(stride) for stride in declared]
    address = tensor.strides
    has_none = code.is_null(address)
    # Without strides the sizes are read in their place, and not used.
    found = code.choose(has_none, tensor.shape, address)
    return [
        arith.select(has_none, row, _number(code, found, axis))
        if stride == OPEN
        else code.i64(stride)
        for axis, (stride, row) in enumerate(zip(declared, packed, strict=True))
    ]


def _number(code: Code, array: ir.Value, place: int) -> ir.Value:
    return code.load(code.types.i64, code.field(array, 8 * place))

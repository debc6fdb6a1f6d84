"""Comparing the caller's tensors with what a program takes, without a branch.

Each comparison gives an i1, true where something is wrong; together they decide whether the program
runs. What is wrong in words is found afterwards, by the support library.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from .code import Code
from .signature import OPEN, Value
from .tensor import CPU, CUDA, ROCM, Tensor

_ZEROS = "hirc_zero_sizes"
# Scalars are read by the host: its own memory, and page-locked memory.
_HOST_DEVICES = 1 << CPU | 1 << 3 | 1 << 11

# What a tensor's sizes may take in bytes, as far as 64 bits count, and what one dim may span by its
# stride, and a byte_offset: more than any address space has, and so little that the sum over all
# dims fits as well.
_MOST_BYTES = (1 << 63) - 1
_MOST_SPANNED = 1 << 56

_LESS = arith.CmpIPredicate.slt
_UP_TO = arith.CmpIPredicate.sle
_BELOW = arith.CmpIPredicate.ult
_ABOVE = arith.CmpIPredicate.ugt


@dataclass(frozen=True)
class Seen:
    """A caller's tensor as the program uses it, and what is wrong with it.

    `first` is the address of its first element; `sizes` and `strides` are i64, constants where
    the type has them, and `reaches` how many elements further the last one lies along each dim.
    `given` is whether an output was handed in, None of an input; `doubt`
    whether one that was may have two elements in one place, None of an input.
    """

    value: Value
    tensor: Tensor
    data: ir.Value
    first: ir.Value
    sizes: tuple[ir.Value, ...]
    strides: tuple[ir.Value, ...]
    reaches: tuple[ir.Value, ...]
    is_empty: ir.Value
    given: ir.Value | None
    wrong: tuple[ir.Value, ...]
    doubt: ir.Value | None = None


class Checker:
    """Checks the tensors of one call; named sizes are compared from one tensor to the next.

    `place` is where the program stands in the source.
    """

    def __init__(self, code: Code, max_rank: int, place: str) -> None:
        self.code = code
        self._max_rank = max(max_rank, 1)
        self._named: dict[str, ir.Value] = {}
        devices = code.call("hirc_accepted_devices", [code.string(place)], code.types.i64)
        assert devices is not None
        i32 = code.types.i32
        self._mask = arith.trunci(i32, devices)
        self.device_number = arith.trunci(i32, arith.shrui(devices, code.i64(32)))
        if not code.has_symbol(_ZEROS):
            count = self._max_rank
            code.global_constant(
                _ZEROS,
                code.types.array(count, code.types.i64),
                ir.DenseElementsAttr.get_splat(
                    ir.RankedTensorType.get([count], code.types.i64),
                    ir.IntegerAttr.get(code.types.i64, 0),
                ),
            )

    @property
    def memory_device(self) -> ir.Value:
        """The device of memory that a program allocates, as a DLTensor's eight bytes."""
        code = self.code
        on_gpu = arith.select(self._accepts(ROCM), code.i32(ROCM), code.i32(CUDA))
        kind = arith.select(self._accepts(CPU), code.i32(CPU), on_gpu)
        kind = arith.extui(code.types.i64, kind)
        number = arith.extui(code.types.i64, self.device_number)
        return arith.ori(kind, arith.shli(number, code.i64(32)))

    def _accepts(self, kind: int) -> ir.Value:
        """Returns whether memory of a kind of device is taken."""
        code = self.code
        return code.differ(arith.andi(self._mask, code.i32(1 << kind)), code.i32(0))

    def scalar(self, tensor: Tensor, value: Value) -> Seen:
        """Returns a scalar: a tensor without dims in the host's memory."""
        code = self.code
        data, offset = tensor.data, tensor.byte_offset
        wrong = (
            code.differ(tensor.rank_and_dtype, code.i64(value.rank_and_dtype)),
            self._not_among(code.i32(_HOST_DEVICES), tensor.device),
            code.is_null(data),
            self._too_far(offset),
        )
        first = code.after(data, offset)
        return Seen(value, tensor, data, first, (), (), (), code.truth(False), None, wrong)

    def buffer(self, tensor: Tensor, value: Value, *, is_output: bool) -> Seen:
        """Returns a buffer. What an output holds counts where it has memory: then it
        was handed in.
        """
        code = self.code
        data = tensor.data
        given = code.negate(code.is_null(data)) if is_output else None
        other = code.differ(tensor.rank_and_dtype, code.i64(value.rank_and_dtype))
        wrong = [other]
        sizes, strides, is_empty = self._extents(tensor, value, other, is_output, wrong)
        reaches, too_far = self._reaches(value, sizes, strides, is_output=is_output)
        too_large = [*self._too_large(value, sizes), *too_far]
        if too_large:
            wrong.append(code.both(code.negate(is_empty), code.any(too_large)))
        doubt = None
        offset = tensor.byte_offset
        first = code.after(data, offset)
        misplaced = [code.is_null(data), self._too_far(offset)]
        if value.alignment > 1:
            low_bits = arith.andi(code.number_of(first), code.i64(value.alignment - 1))
            misplaced.append(code.differ(low_bits, code.i64(0)))
        wrong.append(code.both(code.negate(is_empty), code.any(misplaced)))
        wrong += self._device(tensor)
        if given is not None:
            wrong = [code.both(given, code.any(wrong))]
            filled = code.both(given, code.negate(is_empty))
            doubt = code.both(filled, self._may_repeat(sizes, strides, reaches))
        seen = (sizes, strides, reaches, is_empty, given, tuple(wrong), doubt)
        return Seen(value, tensor, data, first, *seen)

    def _too_far(self, offset: ir.Value) -> ir.Value:
        """Returns whether a tensor begins so far past its data that the address
        would wrap around.
        """
        return arith.cmpi(_ABOVE, offset, self.code.i64(_MOST_SPANNED))

    def _may_repeat(
        self,
        sizes: Sequence[ir.Value],
        strides: Sequence[ir.Value],
        reaches: Sequence[ir.Value],
    ) -> ir.Value:
        """Returns whether a dim's stride does not go beyond what the dims after it span.

        Where none does so, no two elements are in one place; each would be what was written last.
        """
        code = self.code
        one, span = code.i64(1), code.i64(0)
        within: list[ir.Value] = []
        dims = list(zip(sizes, strides, reaches, strict=True))
        for size, stride, reach in reversed(dims):
            step = self._magnitude(stride)
            within.append(
                code.both(code.compare(_LESS, one, size), code.compare(_UP_TO, step, span))
            )
            span = arith.addi(span, self._magnitude(reach))
        return code.any(within)

    def _magnitude(self, number: ir.Value) -> ir.Value:
        return arith.maxsi(number, arith.subi(self.code.i64(0), number))

    def _too_large(self, value: Value, sizes: Sequence[ir.Value]) -> list[ir.Value]:
        """Returns whether so many elements have too many bytes; not asked where the type says."""
        code = self.code
        declared = prod(size for size in value.sizes if size != OPEN)
        pairs = zip(sizes, value.sizes, strict=True)
        open_sizes = [size for size, known in pairs if known == OPEN]
        if not open_sizes or declared == 0:
            return []
        limit = _MOST_BYTES // (declared * value.element_bytes)
        count = open_sizes[0]
        wrong: list[ir.Value] = []
        for size in open_sizes[1:]:
            count, overflows = code.multiply_checked(count, size)
            wrong.append(overflows)
        return [*wrong, arith.cmpi(_ABOVE, count, code.i64(limit))]

    def _reaches(
        self,
        value: Value,
        sizes: Sequence[ir.Value],
        strides: Sequence[ir.Value],
        *,
        is_output: bool,
    ) -> tuple[tuple[ir.Value, ...], list[ir.Value]]:
        """Returns how far each dim's last element lies from its first, and whether that is too far.

        That is not asked where the type says, nor of packed rows, whose bytes are few enough.
        """
        code = self.code
        lasts = [code.subtract(size, code.i64(1)) for size in sizes]
        if not is_output and value.strides is None:
            return tuple(map(code.multiply, lasts, strides)), []
        most = _MOST_SPANNED // value.element_bytes
        reaches: list[ir.Value] = []
        wrong: list[ir.Value] = []
        for last, stride in zip(lasts, strides, strict=True):
            reach, overflows = code.multiply_checked(last, stride)
            beyond = arith.cmpi(_ABOVE, arith.addi(reach, code.i64(most)), code.i64(2 * most))
            wrong += [overflows, beyond]
            reaches.append(reach)
        return tuple(reaches), wrong

    def _extents(
        self,
        tensor: Tensor,
        value: Value,
        other: ir.Value,
        is_output: bool,
        wrong: list[ir.Value],
    ) -> tuple[tuple[ir.Value, ...], tuple[ir.Value, ...], ir.Value]:
        """Sizes and strides, read only where the rank is right, and whether there is no element."""
        code = self.code
        if value.rank == 0:
            return (), (), code.truth(False)
        zeros = code.address_of(_ZEROS)
        sizes = self._numbers(code.choose(other, zeros, tensor.shape), value.rank)
        for size, declared, name in zip(sizes, value.sizes, value.names, strict=True):
            wrong.append(self._wrong_size(size, declared, name))
        sizes = [
            size if declared == OPEN else code.i64(declared)
            for size, declared in zip(sizes, value.sizes, strict=True)
        ]
        is_empty = code.any([code.equal(size, code.i64(0)) for size in sizes])
        packed = [code.i64(1)]
        for size in reversed(sizes[1:]):
            packed.insert(0, code.multiply(packed[0], size))
        address = tensor.strides
        has_none = arith.ori(other, code.is_null(address))
        strides = [
            arith.select(has_none, row, stride)
            for row, stride in zip(
                packed,
                self._numbers(code.choose(has_none, zeros, address), value.rank),
                strict=True,
            )
        ]
        expected = list(strides)
        if not is_output:
            expected = self._expected_strides(value, strides, packed)
            mismatches = [
                code.both(code.differ(size, code.i64(1)), code.differ(stride, wanted))
                for size, stride, wanted in zip(sizes, strides, expected, strict=True)
                if stride is not wanted
            ]
            if mismatches:
                wrong.append(code.both(code.negate(is_empty), code.any(mismatches)))
        return tuple(sizes), tuple(expected), is_empty

    def _numbers(self, array: ir.Value, count: int) -> list[ir.Value]:
        code = self.code
        return [code.load(code.types.i64, code.field(array, 8 * place)) for place in range(count)]

    def _wrong_size(self, size: ir.Value, declared: int, name: str) -> ir.Value:
        code = self.code
        if declared != OPEN:
            return code.differ(size, code.i64(declared))
        if name and name in self._named:
            return code.differ(size, self._named[name])
        if name:
            self._named[name] = size
        return arith.cmpi(_LESS, size, code.i64(0))

    def _expected_strides(
        self, value: Value, strides: Sequence[ir.Value], packed: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """The strides the program uses: the tensor's own where the type leaves them open."""
        if value.strides is None:
            return list(packed)
        return [
            stride if declared == OPEN else self.code.i64(declared)
            for stride, declared in zip(strides, value.strides, strict=True)
        ]

    def _not_among(self, mask: ir.Value, device: ir.Value) -> ir.Value:
        """Returns whether a device's kind has no bit in the mask."""
        code = self.code
        bit = arith.andi(arith.shrui(mask, arith.andi(device, code.i32(31))), code.i32(1))
        inside = arith.cmpi(_BELOW, device, code.i32(32))
        return code.negate(arith.andi(inside, arith.trunci(code.i1, bit)))

    def _device(self, tensor: Tensor) -> list[ir.Value]:
        code = self.code
        device = tensor.device
        elsewhere = code.differ(tensor.device_number, self.device_number)
        is_gpu = code.any([code.equal(device, code.i32(kind)) for kind in (CUDA, ROCM)])
        return [
            self._not_among(self._mask, device),
            arith.andi(is_gpu, elsewhere),
        ]

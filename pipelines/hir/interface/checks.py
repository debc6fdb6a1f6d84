"""Comparing the caller's tensors with what a program takes, without a branch.

Each check gives a fault: an i64 that is 0 where all is right. Their bits together decide whether
the program runs: LLVM takes quadratic time over hundreds of conditions, and none over bits. What is
wrong in words is found afterwards, by the support library.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from .code import Code
from .signature import OPEN, Value
from .tensor import CPU, Tensor

_ZEROS = "hirc_zero_sizes"
# Scalars are read by the host: its own memory, and page-locked memory.
_HOST_DEVICES = 1 << CPU | 1 << 3 | 1 << 11

# What a tensor's sizes may take in bytes, as far as 64 bits count, and what one dim may span by its
# stride, and a byte_offset: more than any address space has, and so little that the sum over all
# dims fits as well. The last two are powers of two.
_MOST_BYTES = (1 << 63) - 1
_MOST_SPANNED_BITS = 56

_LESS = arith.CmpIPredicate.slt
_UP_TO = arith.CmpIPredicate.sle
_ABOVE = arith.CmpIPredicate.ugt


@dataclass(frozen=True)
class Seen:
    """A caller's tensor as the program uses it, and what is wrong with it.

    `first` is the address of its first element; `sizes` and `strides` are i64, constants where
    the type has them, and `reaches` how many elements further the last one lies along each dim.
    `faults` are i64, 0 where nothing is wrong. `given` is whether an output was handed in, None of
    an input; `doubt` whether one that was may have two elements in one place, None of an input.
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
    faults: tuple[ir.Value, ...]
    doubt: ir.Value | None = None


class Checker:
    """Checks the tensors of one call; named sizes are compared from one tensor to the next.

    `place` is where the program stands in the source.
    """

    def __init__(self, code: Code, max_rank: int, place: str) -> None:
        self.code = code
        self._max_rank = max(max_rank, 1)
        self._named: dict[str, ir.Value] = {}
        device = code.call("hirc_memory_device", [code.string(place)], code.types.i64)
        assert device is not None
        # That of memory that the program allocates, as a DLTensor's eight bytes.
        self.memory_device = device
        # An i64, 0 as long as all buffers are there.
        self.away = code.i64(0)
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
    def device_number(self) -> ir.Value:
        """The number of the current device, an i32."""
        code = self.code
        return arith.trunci(code.types.i32, arith.shrui(self.memory_device, code.i64(32)))

    def scalar(self, tensor: Tensor, value: Value) -> Seen:
        """Returns a scalar: a tensor without dims in the host's memory."""
        code = self.code
        data, offset = tensor.data, tensor.byte_offset
        faults = (
            code.difference(tensor.rank_and_dtype, code.i64(value.rank_and_dtype)),
            code.widened(self._is_off_host(tensor.device)),
            code.widened(code.is_null(data)),
            self._too_far(offset),
        )
        first = code.after(data, offset)
        return Seen(value, tensor, data, first, (), (), (), code.truth(False), None, faults)

    def buffer(self, tensor: Tensor, value: Value, *, is_output: bool) -> Seen:
        """Returns a buffer. What an output holds counts where it has memory: then it
        was handed in.
        """
        code = self.code
        data = tensor.data
        given = code.negate(code.is_null(data)) if is_output else None
        other = code.difference(tensor.rank_and_dtype, code.i64(value.rank_and_dtype))
        faults = [other]
        is_other = code.differ(other, code.i64(0))
        sizes, strides, is_empty = self._extents(tensor, value, is_other, is_output, faults)
        reaches, too_far = self._reaches(value, sizes, strides, is_output=is_output)
        offset = tensor.byte_offset
        first = code.after(data, offset)
        misplaced = [
            *self._too_large(value, sizes),
            *too_far,
            code.widened(code.is_null(data)),
            self._too_far(offset),
        ]
        if value.alignment > 1:
            misplaced.append(arith.andi(code.number_of(first), code.i64(value.alignment - 1)))
        faults.append(code.unless(is_empty, code.together(misplaced)))
        away = code.difference(tensor.device_word, self.memory_device)
        doubt = None
        if given is not None:
            faults = [code.unless(code.negate(given), code.together(faults))]
            away = code.unless(code.negate(given), away)
            filled = code.both(given, code.negate(is_empty))
            doubt = code.both(filled, self._may_repeat(sizes, strides, reaches))
        self.away = code.together([self.away, away])
        seen = (sizes, strides, reaches, is_empty, given, tuple(faults), doubt)
        return Seen(value, tensor, data, first, *seen)

    def _too_far(self, offset: ir.Value) -> ir.Value:
        """Returns a fault where a tensor begins so far past its data that the address would wrap
        around.
        """
        return arith.shrui(offset, self.code.i64(_MOST_SPANNED_BITS))

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
        """Returns faults where elements have too many bytes; not asked where the type says."""
        code = self.code
        declared = prod(size for size in value.sizes if size != OPEN)
        pairs = zip(sizes, value.sizes, strict=True)
        open_sizes = [size for size, known in pairs if known == OPEN]
        if not open_sizes or declared == 0:
            return []
        limit = _MOST_BYTES // (declared * value.element_bytes)
        count = open_sizes[0]
        faults: list[ir.Value] = []
        for size in open_sizes[1:]:
            count, overflows = code.multiply_checked(count, size)
            faults.append(code.widened(overflows))
        return [*faults, code.widened(arith.cmpi(_ABOVE, count, code.i64(limit)))]

    def _reaches(
        self,
        value: Value,
        sizes: Sequence[ir.Value],
        strides: Sequence[ir.Value],
        *,
        is_output: bool,
    ) -> tuple[tuple[ir.Value, ...], list[ir.Value]]:
        """Returns how far each dim's last element lies from its first, and faults where too far.

        That is not asked where the type says, nor of packed rows, whose bytes are few enough.
        """
        code = self.code
        lasts = [code.subtract(size, code.i64(1)) for size in sizes]
        if not is_output and value.strides is None:
            return tuple(map(code.multiply, lasts, strides)), []
        bits = _MOST_SPANNED_BITS + 1 - value.element_bytes.bit_length()
        reaches: list[ir.Value] = []
        faults: list[ir.Value] = []
        for last, stride in zip(lasts, strides, strict=True):
            reach, overflows = code.multiply_checked(last, stride)
            beyond = arith.shrui(arith.addi(reach, code.i64(1 << bits)), code.i64(bits + 1))
            faults += [code.widened(overflows), beyond]
            reaches.append(reach)
        return tuple(reaches), faults

    def _extents(
        self,
        tensor: Tensor,
        value: Value,
        is_other: ir.Value,
        is_output: bool,
        faults: list[ir.Value],
    ) -> tuple[tuple[ir.Value, ...], tuple[ir.Value, ...], ir.Value]:
        """Sizes and strides, read only where the rank is right, and whether there is no element."""
        code = self.code
        if value.rank == 0:
            return (), (), code.truth(False)
        zeros = code.address_of(_ZEROS)
        sizes = self._numbers(code.choose(is_other, zeros, tensor.shape), value.rank)
        for size, declared, name in zip(sizes, value.sizes, value.names, strict=True):
            faults.append(self._wrong_size(size, declared, name))
        sizes = [
            size if declared == OPEN else code.i64(declared)
            for size, declared in zip(sizes, value.sizes, strict=True)
        ]
        is_empty = code.any([code.equal(size, code.i64(0)) for size in sizes])
        packed = [code.i64(1)]
        for size in reversed(sizes[1:]):
            packed.insert(0, code.multiply(packed[0], size))
        address = tensor.strides
        has_none = arith.ori(is_other, code.is_null(address))
        found = self._numbers(code.choose(has_none, zeros, address), value.rank)
        if not is_output and value.strides is None:
            wrong = code.together(self._other_strides(sizes, found, packed))
            faults.append(code.unless(is_empty, code.unless(has_none, wrong)))
            return tuple(sizes), tuple(packed), is_empty
        strides = [
            arith.select(has_none, row, stride) for row, stride in zip(packed, found, strict=True)
        ]
        if is_output:
            return tuple(sizes), tuple(strides), is_empty
        expected = self._expected_strides(value, strides, packed)
        wrong = code.together(self._other_strides(sizes, strides, expected))
        faults.append(code.unless(is_empty, wrong))
        return tuple(sizes), tuple(expected), is_empty

    def _other_strides(
        self,
        sizes: Sequence[ir.Value],
        strides: Sequence[ir.Value],
        expected: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """Returns faults where strides are not those that are expected; of one element any are."""
        code = self.code
        return [
            code.unless(code.equal(size, code.i64(1)), code.difference(stride, wanted))
            for size, stride, wanted in zip(sizes, strides, expected, strict=True)
            if stride is not wanted
        ]

    def _numbers(self, array: ir.Value, count: int) -> list[ir.Value]:
        code = self.code
        return [code.load(code.types.i64, code.field(array, 8 * place)) for place in range(count)]

    def _wrong_size(self, size: ir.Value, declared: int, name: str) -> ir.Value:
        code = self.code
        if declared != OPEN:
            return code.difference(size, code.i64(declared))
        if name and name in self._named:
            return code.difference(size, self._named[name])
        if name:
            self._named[name] = size
        return arith.shrui(size, code.i64(63))

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

    def _is_off_host(self, device: ir.Value) -> ir.Value:
        """Returns an i32 that is not 0 where the host cannot read memory of a kind of device."""
        code = self.code
        place = arith.andi(device, code.i32(31))
        bit = arith.andi(arith.shrui(code.i32(~_HOST_DEVICES), place), code.i32(1))
        return arith.ori(bit, arith.shrui(device, code.i32(5)))

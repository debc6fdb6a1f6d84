"""A DLTensor in memory: the C struct of the DLPack specification on a 64-bit machine."""

from __future__ import annotations

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from .code import Code

_DATA = 0
_DEVICE = 8
_RANK_AND_DTYPE = 16
_SHAPE = 24
_STRIDES = 32
_OFFSET = 40


@dataclass(frozen=True)
class Tensor:
    """The tensor at an address that is known at run time."""

    code: Code
    address: ir.Value

    def _load(self, kind: ir.Type, offset: int) -> ir.Value:
        return self.code.load(kind, self.code.field(self.address, offset))

    def _store(self, value: ir.Value, offset: int) -> None:
        self.code.store(value, self.code.field(self.address, offset))

    @property
    def data(self) -> ir.Value:
        return self._load(self.code.types.ptr, _DATA)

    @property
    def byte_offset(self) -> ir.Value:
        return self._load(self.code.types.i64, _OFFSET)

    @property
    def device_word(self) -> ir.Value:
        """Kind and number as one i64."""
        return self._load(self.code.types.i64, _DEVICE)

    @property
    def shape(self) -> ir.Value:
        return self._load(self.code.types.ptr, _SHAPE)

    @property
    def strides(self) -> ir.Value:
        """The strides' address, null for packed rows."""
        return self._load(self.code.types.ptr, _STRIDES)

    def fill(
        self, data: ir.Value, byte_offset: ir.Value, device_word: ir.Value, rank_and_dtype: int
    ) -> None:
        """Writes everything but shape and strides, whose arrays are the caller's."""
        self._store(data, _DATA)
        self._store(byte_offset, _OFFSET)
        self._store(device_word, _DEVICE)
        self._store(self.code.i64(rank_and_dtype), _RANK_AND_DTYPE)


def tensor_at(code: Code, tensors: ir.Value, place: int) -> Tensor:
    """Tensor number `place` of an array of pointers to tensors."""
    return Tensor(code, code.load(code.types.ptr, code.field(tensors, 8 * place)))

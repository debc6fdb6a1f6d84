"""From the caller's tensors to the arguments of a program's body."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from .caller_tensors import CallerTensor
from .code import Code
from .signature import OPEN


def argument(code: Code, caller: CallerTensor, kind: ir.Type) -> ir.Value:
    """Returns the value of type `kind` that stands for a tensor."""
    if isinstance(kind, ir.MemRefType):
        return code.cast(_descriptor(code, caller), kind)
    return load_scalar(code, caller.first, kind)


def given_argument(code: Code, caller: CallerTensor, kind: ir.Type) -> ir.Value:
    """Returns the handed-in output as a memref, whose address is null where none was handed in."""
    return code.cast(_descriptor(code, caller), kind)


def _descriptor(code: Code, caller: CallerTensor) -> ir.Value:
    """Returns the memref descriptor. Its allocated pointer is the tensor's data, as it came."""
    first, offset = caller.first, caller.value.offset
    if caller.given is not None:
        first = code.choose(caller.given, first, code.null())
        offset = 0
    elif offset not in (0, OPEN):
        first = code.field(first, -offset * caller.value.element_bytes)
    own = 0 if offset == OPEN else offset
    descriptor = code.begun_descriptor(caller.value.rank, caller.data, first, own)
    for axis, (size, stride) in enumerate(zip(caller.sizes, caller.strides, strict=True)):
        descriptor = code.insert(descriptor, size, 3, axis)
        descriptor = code.insert(descriptor, stride, 4, axis)
    return descriptor


def load_scalar(code: Code, address: ir.Value, kind: ir.Type) -> ir.Value:
    """Returns the scalar of type `kind` in the host's memory."""
    if isinstance(kind, ir.IndexType):
        return arith.index_cast(kind, code.load(code.types.i64, address))
    if isinstance(kind, ir.FloatType):
        bits = ir.IntegerType.get_signless(kind.width)
        return arith.bitcast(kind, code.load(bits, address))
    width = ir.IntegerType(kind).width
    if width == 1:
        return code.differ(code.load(code.i8, address), arith.constant(code.i8, 0))
    return code.load(ir.IntegerType.get_signless(width), address)


def store_scalar(code: Code, value: ir.Value, address: ir.Value) -> None:
    """Writes a scalar to the host's memory."""
    kind = value.type
    if isinstance(kind, ir.IndexType):
        value = arith.index_cast(code.types.i64, value)
    elif isinstance(kind, ir.FloatType):
        value = arith.bitcast(ir.IntegerType.get_signless(kind.width), value)
    elif ir.IntegerType(kind).width == 1:
        value = arith.extui(code.i8, value)
    code.store(value, address)

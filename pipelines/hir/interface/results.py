"""From the values a program's body returns to the caller's tensors."""

from __future__ import annotations

from ....dialects.mlir import arith, ir, scf
from .arguments import store_scalar
from .caller_tensors import CallerTensor
from .code import Code
from .signature import Value
from .tensor import Tensor


def store_result(
    code: Code, caller: CallerTensor, value: ir.Value, inputs: list[CallerTensor], device: ir.Value
) -> None:
    """Writes one result to its tensor. `device` is that of memory which the program allocates.

    A scalar goes to the memory the caller gave. A buffer that was handed in is there already. Of
    any other, `data` is the allocation it lies in and `byte_offset` where in it: two tensors of one
    allocation have the same `data`.
    """
    if not isinstance(value.type, ir.MemRefType):
        store_scalar(code, value, caller.first)
        return
    assert caller.given is not None
    fresh = scf.IfOp(code.negate(caller.given))
    with ir.InsertionPoint(fresh.then_block):
        if caller.value.origin == "input":
            device = inputs[caller.value.origin_input].tensor.device_word
        _fill(code, caller.tensor, caller.value, value, device)
        scf.YieldOp([])


def _fill(code: Code, tensor: Tensor, value: Value, result: ir.Value, device: ir.Value) -> None:
    types = code.types
    descriptor = code.convert(result)
    data = code.extract(descriptor, types.ptr, 0)
    first = code.extract(descriptor, types.ptr, 1)
    offset = code.extract(descriptor, types.i64, 2)
    before = arith.subi(code.number_of(first), code.number_of(data))
    inside = arith.muli(offset, code.i64(value.element_bytes))
    tensor.fill(data, arith.addi(before, inside), device, value.rank_and_dtype)
    if value.rank:
        shape, strides = tensor.shape, tensor.strides
        for axis in range(value.rank):
            code.store(code.extract(descriptor, types.i64, 3, axis), code.field(shape, 8 * axis))
            code.store(code.extract(descriptor, types.i64, 4, axis), code.field(strides, 8 * axis))

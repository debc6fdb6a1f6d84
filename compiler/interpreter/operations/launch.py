"""hir.launch: a kernel, compiled for the device that the buffers are on."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..convert import store
from ..dtypes import element_type_of
from ..frame import Frame, mark_written
from ..kernels import descriptor, find_kernel, is_small_float
from ..registry import interprets
from ..scalar_numbers import signed, width_of
from ..torch_import import torch

_SIZES = 7


@interprets("hir.launch")
def launch(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Launches the kernel and waits for it; the buffers it may write count as written."""
    kernel, path = _kernel(op, frame)
    arguments = [
        _argument(argument.operation, frame) for argument in op.regions[0].blocks[0].operations
    ]
    sizes = [frame.number(operand) for operand in list(op.operands)[:_SIZES]]
    if any(size < 0 for size in sizes):
        fault.fail(op, f"a size of the launch is negative: {sizes}")
    on_gpu = frame.interpreter.device.type == "cuda"
    function, types = find_kernel(frame.interpreter.module, *path, on_gpu)
    if len(types) != len(arguments):
        fault.fail(op, f"@{path[1]} takes {len(types)} arguments, got {len(arguments)}")
    if 0 not in sizes[:3]:
        if on_gpu:
            torch.cuda.synchronize(frame.interpreter.device)
        passed = [_passed(op, value, type_) for value, type_ in zip(arguments, types, strict=True)]
        function(*(ctypes.c_int64(size) for size in sizes), *passed)
    written = list(range(len(arguments)))
    if kernel is not None and "writes" in kernel.attributes:
        written = list(ir.DenseI64ArrayAttr(kernel.attributes["writes"]))
    for number in written:
        if isinstance(arguments[number], Buffer):
            mark_written(arguments[number])
    return []


def _kernel(op: ir.Operation, frame: Frame) -> tuple[ir.Operation | None, tuple[str, str]]:
    """Returns the hir.kernel, where the launch names one, and its gpu.module's and function's
    names.
    """
    path = ir.SymbolRefAttr(op.attributes["kernel"]).value
    if len(path) == 2:
        return None, (path[0], path[1])
    for other in frame.interpreter.module.body:
        found = other.operation
        if (
            found.name == "hir.kernel"
            and ir.StringAttr(found.attributes["sym_name"]).value == path[0]
        ):
            function = ir.SymbolRefAttr(found.attributes["function"]).value
            return found, (function[0], function[1])
    return fault.fail(op, f"there is no hir.kernel @{path[0]}")


def _argument(op: ir.Operation, frame: Frame) -> Any:
    value = frame.value(op.operands[0])
    return frame.buffer(op, op.operands[0]) if isinstance(value, Buffer) else value


def _passed(op: ir.Operation, value: Any, value_type: ir.Type) -> Any:
    """Returns an argument as the C function takes it."""
    if isinstance(value, Buffer):
        made = descriptor(value.tensor.data_ptr(), value.sizes, value.strides)
        return ctypes.byref(made)
    kinds = {1: ctypes.c_bool, 8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32}
    if isinstance(value_type, ir.F32Type):
        return ctypes.c_float(value)
    if isinstance(value_type, ir.F64Type):
        return ctypes.c_double(value)
    if isinstance(value_type, (ir.IndexType, ir.IntegerType)):
        bits = width_of(value_type)
        return kinds.get(bits, ctypes.c_int64)(value if bits == 1 else signed(value, bits))
    element = element_type_of(value_type)
    if element is None or not is_small_float(value_type):
        return fault.refuse(op, f"a scalar of type {value_type} cannot be passed to a kernel")
    bits = store(torch.tensor(value), element).view(
        torch.int16 if element.bytes == 2 else torch.int8
    )
    return kinds[8 * element.bytes](int(bits.item()))

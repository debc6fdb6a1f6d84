"""hir.host_call: a user's C function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..buffer import Buffer
from ..frame import Frame, mark_written
from ..registry import interprets
from ..results import Results


@interprets("hir.host_call")
def host_call(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Calls the Python function of that name; buffers are tensors, in place.

    What it may have written counts as written.
    """
    name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    function = frame.interpreter.host_functions.get(name)
    if function is None:
        fault.fail(
            op,
            f"the program calls the C function '{name}', and the interpreter has none",
            hint=f"interpret(..., host_functions={{'{name}': a Python function}})",
        )
    values: list[Any] = []
    buffers: list[Buffer] = []
    for argument in op.regions[0].blocks[0].operations:
        value = frame.value(argument.operands[0])
        if isinstance(value, Buffer):
            buffers.append(frame.buffer(argument.operation, argument.operands[0]))
            value = value.tensor
        values.append(value)
    result = function(*values)
    for buffer in buffers:
        mark_written(buffer)
    types = (
        list(ir.ArrayAttr(op.attributes["result_types"])) if "result_types" in op.attributes else []
    )
    if bool(types) != (result is not None):
        expected = f"a {ir.TypeAttr(types[0]).value}" if types else "nothing"
        fault.fail(op, f"'{name}' should return {expected}, and returned {result!r}")
    return [Results([result] if types else [])]

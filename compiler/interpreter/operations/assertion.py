"""cf.assert on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..frame import Frame
from ..registry import interprets


@interprets("cf.assert")
def assertion(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    if not frame.value(op.operands[0]):
        fault.fail(op, ir.StringAttr(op.attributes["msg"]).value)
    return []

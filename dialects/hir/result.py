"""`hir.result`: one value of what a call or branch gives."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import ResultsType


class ResultOp(Hir.Operation, name="result"):
    """Value number `index` of the results of a hir.call, hir.host_call or hir.if.

    Example:
      %y = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
    """

    results_value: ext.Operand[ResultsType]
    index: ir.IntegerAttr
    result_value: ext.Result[Any]

"""check-tensor-operations: refuses, by name, what has no form on buffers."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where
from .select_host_programs import MARK

# The dialects whose operations one-shot-bufferize takes on tensors.
_KNOWN = (
    *("arith", "bufferization", "cf", "func", "linalg"),
    *("ml_program", "scf", "tensor", "ub", "vector"),
)
# one-shot-bufferize gives loops the types of their buffers; each further one that carries a tensor
# into the next doubles its time.
_MOST_NESTED = 16
_WAYS_OUT = {
    "tensor.bitcast": "use a linalg.generic with arith.bitcast in its region",
    "tensor.gather": "use a linalg.generic with tensor.extract in its region",
    "tensor.scatter": "use an scf.for with tensor.insert_slice in it",
    "tm_tensor": "of torch-mlir's own operations only scan, scatter and sort have kernels",
    "tosa": "lower it to linalg before (tosa-to-linalg-named, then tosa-to-linalg)",
}


@register
@dataclass(frozen=True)
class CheckTensorOperations(Pass):
    """Reports the first operation on tensors of a host program that cannot be bufferized.

      prog.mlir:3:8: error: tosa.abs on tensors has no kernel: lower it to linalg before ...

    Loops that carry tensors may be nested only so deep.

    Takes the functions that carry the unit attribute `hir.program` (see select-host-programs).
    """

    name: ClassVar[str] = "check-tensor-operations"
    makes: ClassVar[tuple[str, ...]] = ()

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            for found in operations_where(function, _has_no_buffers):
                fail(found, f"{found.name} on tensors has no kernel: {_way_out(found)}")
            _check_nesting(function, 0)


def _has_no_buffers(op: ir.Operation) -> bool:
    is_known = op.name.partition(".")[0] in _KNOWN and op.name not in _WAYS_OUT
    return not is_known and any(
        isinstance(value.type, ir.RankedTensorType | ir.UnrankedTensorType)
        for value in (*op.operands, *op.results)
    )


def _way_out(op: ir.Operation) -> str:
    dialect = op.name.partition(".")[0]
    return _WAYS_OUT.get(op.name) or _WAYS_OUT.get(dialect) or "write it as linalg.generic"


def _check_nesting(op: ir.Operation, depth: int) -> None:
    """Refuses a loop below too many others that carry tensors, `depth` of them around `op`."""
    for region in op.regions:
        for block in region:
            for view in block.operations:
                inner = view.operation
                carries = inner.name == "scf.for" and any(
                    isinstance(result.type, ir.RankedTensorType) for result in inner.results
                )
                if depth + carries > _MOST_NESTED:
                    fail(
                        inner,
                        f"loops that carry tensors are nested more than {_MOST_NESTED} deep: make "
                        "one loop of several, with the product of their counts",
                    )
                _check_nesting(inner, depth + carries)

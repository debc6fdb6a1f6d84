"""`hir.library_matmul`: a matrix product that cuBLASLt computes."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .layout import DYNAMIC
from .verify import OperationError, attribute_of, buffer, check_unit, verified

# The operands, in the order of `dims`.
NAMES = ("the first operand", "the second operand", "the result", "the bias")
ACTIVATIONS = ("relu", "gelu_tanh")
MOST_LOOPS = 16

_DIMS = "an array of one array<i64: ...> an operand: the loop of each of its dims, -1 for none"
# The element types of operands, with how products of them may be computed and what they may give.
_COMPUTES = {
    "f32": ("f32", "tf32"),
    "f64": ("f64",),
    "f16": ("f32",),
    "bf16": ("f32",),
}
_RESULTS = {"f32": ("f32",), "f64": ("f64",), "f16": ("f16", "f32"), "bf16": ("bf16", "f32")}


class LibraryMatmulOp(Hir.Operation, name="library_matmul"):
    """Sums of products of two operands, by one call of cuBLASLt on the current stream.

    `dims` says which loop indexes each dim of the operands, -1 for a dim of size 1 that none does.
    Loops of all three are batches, those of both operands alone are summed over. `accumulates` adds
    to what the result holds. A bias, of the result's element type, is added, and then `activation`
    ("relu", "gelu_tanh") applied. `compute` is the type that is computed in: f32, tf32 (of f32
    operands) or f64.

    Example:
      "hir.library_matmul"(%a, %b, %c) {
        compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>]
      } : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
    """

    compute: ir.StringAttr
    dims: ir.ArrayAttr
    first: ext.Operand[Any]
    second: ext.Operand[Any]
    output: ext.Operand[Any]
    bias: ext.Operand[Any] | None

    @staticmethod
    def verify_invariants(op: "LibraryMatmulOp") -> bool:
        return verified(op, _check)


def dims_of(op: ir.Operation) -> list[list[int]]:
    """Returns the loop of each dim of each operand."""
    return [list(ir.DenseI64ArrayAttr(each)) for each in ir.ArrayAttr(op.attributes["dims"])]


def _check(op: LibraryMatmulOp) -> None:
    types = [buffer(value, name) for value, name in zip(op.operation.operands, NAMES, strict=False)]
    _check_elements(op, [str(each.element_type) for each in types])
    dims = _checked_dims(op, types)
    _check_sizes(types, dims)
    _check_loops(dims)
    check_unit(op, "accumulates")
    if "activation" in op.attributes:
        activation = attribute_of(op, "activation", ir.StringAttr, "a string").value
        if activation not in ACTIVATIONS:
            raise OperationError(f"activation is one of {', '.join(ACTIVATIONS)}, not {activation}")
    if "accumulates" in op.attributes and ("activation" in op.attributes or len(types) > 3):
        raise OperationError("what accumulates has neither a bias nor an activation")


def _check_elements(op: LibraryMatmulOp, elements: list[str]) -> None:
    element, second, result, *biases = elements
    if element not in _COMPUTES or second != element:
        listed = ", ".join(_COMPUTES)
        raise OperationError(f"its operands are both of one of {listed}, not {element}, {second}")
    if result not in _RESULTS[element]:
        listed = " or ".join(_RESULTS[element])
        raise OperationError(f"of {element} the result is of {listed}, not {result}")
    if biases and biases[0] != result:
        raise OperationError(f"the bias is of the result's element type {result}, not {biases[0]}")
    compute = attribute_of(op, "compute", ir.StringAttr, "a string").value
    if compute not in _COMPUTES[element]:
        listed = " or ".join(_COMPUTES[element])
        raise OperationError(f"compute of {element} is {listed}, not {compute}")


def _checked_dims(op: LibraryMatmulOp, types: list[ir.MemRefType]) -> list[list[int]]:
    arrays = list(attribute_of(op, "dims", ir.ArrayAttr, _DIMS))
    if not all(isinstance(each, ir.DenseI64ArrayAttr) for each in arrays):
        raise OperationError(f"dims is {_DIMS}; it is {op.attributes['dims']}")
    dims = dims_of(op.operation)
    ranks, wanted = [len(each) for each in dims], [each.rank for each in types]
    if ranks != wanted:
        raise OperationError(f"dims has {ranks} loops, and the operands have {wanted} dims")
    return dims


def _check_loops(dims: list[list[int]]) -> None:
    used = {loop for each in dims for loop in each if loop != -1}
    if used != set(range(len(used))) or len(used) > MOST_LOOPS:
        raise OperationError(
            f"the loops in dims are numbered from 0 without gaps, {MOST_LOOPS} at most; they are "
            f"{sorted(used)}"
        )
    for name, each in zip(NAMES, dims, strict=False):
        own = [loop for loop in each if loop != -1]
        if len(set(own)) != len(own):
            raise OperationError(f"no loop indexes two dims of {name}; its dims are {each}")
    first, second, result, *biases = (set(each) for each in dims)
    for loop in sorted(used):
        if [loop in first, loop in second, loop in result].count(True) < 2:
            raise OperationError(
                f"loop {loop} indexes two at least of the operands and the result: one of them "
                "alone is a sum or a repetition"
            )
    for bias in biases:
        if len(bias) != 1 or not bias <= (first ^ second) & result:
            raise OperationError("the bias has one dim, of a loop of the result and one operand")


def _check_sizes(types: list[ir.MemRefType], dims: list[list[int]]) -> None:
    sizes: dict[int, tuple[int, str]] = {}
    for name, kind, loops in zip(NAMES, types, dims, strict=False):
        for axis, (size, loop) in enumerate(zip(kind.shape, loops, strict=True)):
            if loop == -1:
                if size != 1:
                    raise OperationError(f"dim {axis} of {name} has no loop, and so size 1")
            elif size != DYNAMIC:
                known, other = sizes.setdefault(loop, (size, name))
                if known != size:
                    raise OperationError(
                        f"loop {loop} has {known} iterations by {other}, and {size} by {name}"
                    )

"""`hir.library_matmul`: a matrix product that cuBLASLt computes."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .layout import DYNAMIC
from .verify import OperationError, attribute_of, buffer, verified

_NAMES = ("the first operand", "the second operand", "the result", "the bias", "the addend")
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
    Loops of all three are batches, those of both operands alone are summed over. A bias and an
    addend, of the result's element type, are added to the sums, and then `activation` ("relu",
    "gelu_tanh") is applied. The addend has an element for each of the result, and may be the result
    itself. `compute` is the type that is computed in: f32, tf32 (of f32 operands) or f64.

    Example:
      "hir.library_matmul"(%a, %b, %c) {
        compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>],
        operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>
      } : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
    """

    compute: ir.StringAttr
    dims: ir.ArrayAttr
    first: ext.Operand[Any]
    second: ext.Operand[Any]
    output: ext.Operand[Any]
    bias: ext.Operand[Any] | None
    addend: ext.Operand[Any] | None

    @staticmethod
    def verify_invariants(op: "LibraryMatmulOp") -> bool:
        return verified(op, _check)


def dims_of(op: ir.Operation) -> list[list[int]]:
    """Returns the loop of each dim of each operand."""
    return [list(ir.DenseI64ArrayAttr(each)) for each in ir.ArrayAttr(op.attributes["dims"])]


def bias_and_addend(op: ir.Operation) -> list[int | None]:
    """Returns which operands are the bias and the addend, each None where there is none."""
    *_, biases, addends = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    return [3 if biases else None, 3 + biases if addends else None]


def _check(op: LibraryMatmulOp) -> None:
    names = _names(op)
    types = [buffer(value, name) for value, name in zip(op.operation.operands, names, strict=True)]
    _check_elements(op, names, [str(each.element_type) for each in types])
    dims = _checked_dims(op, types)
    _check_sizes(names, types, dims)
    _check_loops(names, dims)
    if "activation" in op.attributes:
        activation = attribute_of(op, "activation", ir.StringAttr, "a string").value
        if activation not in ACTIVATIONS:
            raise OperationError(f"activation is one of {', '.join(ACTIVATIONS)}, not {activation}")


def _names(op: LibraryMatmulOp) -> list[str]:
    """Returns what the operands are called, in their order."""
    sizes = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    return [name for name, count in zip(_NAMES, sizes, strict=True) if count]


def _check_elements(op: LibraryMatmulOp, names: list[str], elements: list[str]) -> None:
    element, second, result, *added = elements
    if element not in _COMPUTES or second != element:
        listed = ", ".join(_COMPUTES)
        raise OperationError(f"its operands are both of one of {listed}, not {element}, {second}")
    if result not in _RESULTS[element]:
        listed = " or ".join(_RESULTS[element])
        raise OperationError(f"of {element} the result is of {listed}, not {result}")
    for name, each in zip(names[3:], added, strict=True):
        if each != result:
            raise OperationError(f"{name} is of the result's element type {result}, not {each}")
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


def _check_loops(names: list[str], dims: list[list[int]]) -> None:
    used = {loop for each in dims for loop in each if loop != -1}
    if used != set(range(len(used))) or len(used) > MOST_LOOPS:
        raise OperationError(
            f"the loops in dims are numbered from 0 without gaps, {MOST_LOOPS} at most; they are "
            f"{sorted(used)}"
        )
    for name, each in zip(names, dims, strict=True):
        own = [loop for loop in each if loop != -1]
        if len(set(own)) != len(own):
            raise OperationError(f"no loop indexes two dims of {name}; its dims are {each}")
    first, second, result, *added = (set(each) for each in dims)
    for loop in sorted(used):
        if [loop in first, loop in second, loop in result].count(True) < 2:
            raise OperationError(
                f"loop {loop} indexes two at least of the operands and the result: one of them "
                "alone is a sum or a repetition"
            )
    for name, each in zip(names[3:], added, strict=True):
        if name == "the addend":
            if each - {-1} != result - {-1}:
                raise OperationError("the addend has the loops of the result")
        elif len(each) != 1 or not each <= (first ^ second) & result:
            raise OperationError("the bias has one dim, of a loop of the result and one operand")


def _check_sizes(names: list[str], types: list[ir.MemRefType], dims: list[list[int]]) -> None:
    sizes: dict[int, tuple[int, str]] = {}
    for name, kind, loops in zip(names, types, dims, strict=True):
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

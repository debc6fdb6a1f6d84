"""The gpu function that a hir.kernel or hir.launch names, and what it takes."""

from ..mlir import ir
from .element_types import find_element_type
from .layout import DYNAMIC, strides_and_offset
from .refusal import refuse
from .symbols import lookup, written
from .values import has_strides


def find_function(op: ir.OpView, path: list[str]) -> ir.Operation | None:
    """Returns the gpu.func at `path`; None where there is no such kernel, which it says."""
    if len(path) != 2:
        refuse(op, f"a gpu.func is named @module::@function, not {written(path)}")
        return None
    module, function = lookup(op, path[:1]), lookup(op, path)
    if module is None or module.name != "gpu.module":
        there = "nothing" if module is None else f"a {module.name}"
        refuse(op, f"{written(path)} is no gpu.func: {written(path[:1])} is {there}")
        return None
    if function is None or function.name != "gpu.func":
        there = "nothing" if function is None else f"a {function.name}"
        refuse(op, f"{written(path)} is {there}; a gpu.func of that gpu.module is wanted")
        return None
    if not any(mark in function.attributes for mark in ("kernel", "gpu.kernel")):
        refuse(op, f"{written(path)} is no kernel: write `gpu.func ... kernel`")
        return None
    # What stands after `op` in the module was not verified yet.
    kind = function.attributes.get("function_type")
    if not isinstance(kind, ir.TypeAttr) or not isinstance(kind.value, ir.FunctionType):
        refuse(op, f"{written(path)} has no 'function_type' that says what it takes")
        return None
    return function


def parameters_of(function: ir.Operation) -> list[ir.Type]:
    """Returns the types of a gpu.func's arguments."""
    function_type = ir.TypeAttr(function.attributes["function_type"]).value
    return list(ir.FunctionType(function_type).inputs)


def does_not_fit(given: ir.Type, parameter: ir.Type) -> str | None:
    """Why a value cannot be a kernel's argument; None where it can.

    A kernel sees elements as they are stored: f32 for tf32, i8 for ui8. One that takes `!llvm.ptr`
    for a buffer gets the address of its first element.
    """
    if isinstance(given, ir.MemRefType) and str(parameter) == "!llvm.ptr":
        return None
    if not isinstance(parameter, ir.MemRefType) or not isinstance(given, ir.MemRefType):
        return _differs(given, parameter, "")
    if given.rank != parameter.rank:
        return f"expected {parameter.rank} dims, not {given.rank}: {parameter}, not {given}"
    elements = _differs(given.element_type, parameter.element_type, "elements of ")
    if elements is not None:
        return elements
    for axis, (here, there) in enumerate(zip(given.shape, parameter.shape, strict=True)):
        if DYNAMIC not in (here, there) and here != there:
            return f"expected size {there} of dim {axis}, not {here}"
    return _stride_that_differs(given, parameter)


def _differs(given: ir.Type, parameter: ir.Type, what: str) -> str | None:
    """Why a parameter cannot take a scalar, or a buffer's elements, of that type."""
    stored = _stored(given)
    if stored == str(parameter):
        return None
    if given == parameter:
        return f"a kernel sees {what}{given} as {stored}: so is its parameter to be declared"
    return f"expected {what}{parameter}, not {given}"


def _stride_that_differs(given: ir.MemRefType, parameter: ir.MemRefType) -> str | None:
    if not has_strides(given) or not has_strides(parameter):
        return None
    here, there = strides_and_offset(given)[0], strides_and_offset(parameter)[0]
    for axis, (stride, wanted) in enumerate(zip(here, there, strict=True)):
        if DYNAMIC not in (stride, wanted) and stride != wanted and given.shape[axis] != 1:
            return f"expected stride {wanted} of dim {axis}, not {stride}"
    return None


def _stored(value_type: ir.Type) -> str:
    element = find_element_type(value_type)
    return element.stored_as if element is not None else str(value_type)

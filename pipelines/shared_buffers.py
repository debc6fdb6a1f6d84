"""What a gpu.module has of static shared memory: attributions of kernels, and memref.globals."""

from __future__ import annotations

from math import prod

from ..dialects.mlir import ir
from .call_graph import functions_by_name, reachable_functions
from .host.types import DYNAMIC, element_bytes
from .pass_base import fail
from .walking import operations_where

# ptxas refuses more static shared memory than this on every chip (CUDA programming guide,
# technical specifications per compute capability: more must be dynamic).
STATIC_SHARED_BYTES = 48 * 1024
_SHARED = ("#gpu.address_space<workgroup>", "3 : i64", "3")


def attributions(function: ir.Operation) -> list[ir.Value]:
    """Returns the workgroup attributions of a gpu.func."""
    if "workgroup_attributions" not in function.attributes:
        return []
    count = ir.IntegerAttr(function.attributes["workgroup_attributions"]).value
    first = len(ir.FunctionType(function.attributes["function_type"].value).inputs)
    arguments = function.regions[0].blocks[0].arguments
    return [arguments[first + index] for index in range(count)]


def shared_globals(module: ir.Operation) -> dict[str, ir.Operation]:
    """Returns the memref.globals of a gpu.module that are in shared memory, by name."""
    found: dict[str, ir.Operation] = {}
    for child in module.regions[0].blocks[0]:
        op = child.operation
        if op.name == "memref.global":
            space = global_type(op).memory_space
            if space is not None and str(space) in _SHARED:
                found[ir.StringAttr(op.attributes["sym_name"]).value] = op
    return found


def globals_used(reached: list[ir.Operation]) -> set[str]:
    """Returns the memref.globals that functions use."""
    uses = [use for function in reached for use in operations_where(function, is_get_global)]
    return {ir.FlatSymbolRefAttr(use.attributes["name"]).value for use in uses}


def is_get_global(op: ir.Operation) -> bool:
    """Returns whether an operation is the use of a memref.global."""
    return op.name == "memref.get_global"


def global_type(op: ir.Operation) -> ir.MemRefType:
    """Returns the type of a memref.global."""
    return ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)


def buffer_bytes(op: ir.Operation, kind: ir.MemRefType) -> int:
    """Returns the bytes of a buffer in shared memory. Fails for one of an open size."""
    if DYNAMIC in kind.shape:
        fail(op, f"workgroup memory has a static size, not {kind}")
    return element_bytes(kind.element_type) * prod(kind.shape)


def static_shared_bytes(module: ir.Operation, kernel: str) -> int:
    """Returns the bytes that a kernel and what it calls have of static shared memory, without what
    lies between buffers.
    """
    functions = functions_by_name(module)
    function = functions[kernel]
    own = [ir.MemRefType(value.type) for value in attributions(function)]
    variables = shared_globals(module)
    names = globals_used(reachable_functions(function, functions)) if variables else set[str]()
    kinds = own + [global_type(variables[name]) for name in sorted(names & variables.keys())]
    return sum(buffer_bytes(function, kind) for kind in kinds)

"""What a library with programs offers besides them."""

from __future__ import annotations

from ....dialects import llvm
from ....dialects.mlir import ir
from .code import Code
from .signature import Signature

# Of programs that have weights, the exported function, the support library's that it calls, and its
# type.
_WEIGHTS_EXPORTS = (
    ("hirc_load_weights", "hirc_weights_load_all", "i32", ()),
    ("hirc_use_weights_file", "hirc_weights_use_file", "i32", ("ptr",)),
    ("hirc_use_weights", "hirc_weights_use_tensors", "i32", ("ptr", "ptr", "i64")),
    ("hirc_unload_weights", "hirc_weights_unload", "void", ()),
)
# And of those that have state.
_STATE_EXPORTS = (
    ("hirc_create_state", "hirc_instance_create", "ptr", ()),
    ("hirc_free_state", "hirc_instance_free", "void", ("ptr",)),
    ("hirc_hold_state", "hirc_instance_hold", "ptr", ("ptr",)),
    ("hirc_use_state", "hirc_instance_use", "void", ("ptr",)),
    ("hirc_reset_state", "hirc_instance_reset", "i32", ("ptr",)),
    ("hirc_manual_seed", "hirc_generator_seed", "i32", ("i64", "i64", "ptr")),
    ("hirc_state_tensor", "hirc_instance_tensor", "i32", ("ptr", "ptr")),
)
# And of those that communicate.
_COMMUNICATION_EXPORTS = (
    ("hirc_use_communicator", "hirc_communicator_use", "i32", ("ptr", "i32", "i32", "ptr")),
    ("hirc_give_up_communicator", "hirc_communicator_give_up", "i32", ("ptr",)),
    ("hirc_leave_communicator", "hirc_communicator_leave", "void", ()),
    ("hirc_use_device", "hirc_communicator_use_device", "i32", ("i32",)),
)

# tvm-ffi's own symbols begin so.
_FFI_PREFIX = "__tvm_ffi_"
_FFI_RESERVED = ("_library_", "_metadata_", "_doc_")


def add_packed_function(code: Code, signature: Signature) -> None:
    """Adds the program as a packed function of tvm-ffi (ffi.c of the support library)."""
    if signature.name.startswith(_FFI_RESERVED):
        return
    kind = ir.Type.parse("!llvm.func<i32 (ptr, ptr, i32, ptr)>")
    types = code.types
    function = llvm.function(f"{_FFI_PREFIX}{signature.name}", kind)
    block = function.regions[0].blocks.append(types.ptr, types.ptr, types.i32, types.ptr)
    with ir.InsertionPoint(block):
        passed = [code.address_of(signature.symbols[1]), *list(block.arguments)[1:]]
        llvm.end(code.call("hirc_ffi_call", passed, types.i32))


def communicates(module: ir.Operation) -> bool:
    """Returns whether a module's programs, lowered by now, communicate."""
    return "hirc_communicator_of" in ir.SymbolTable(module)


def add_exports(code: Code, module: ir.Operation, *, has_weights: bool, has_state: bool) -> None:
    """Adds functions that are one in a linked file, however many of its units have them: those that
    only some libraries have. What all have the support library exports itself (library_exports.c).
    """
    exports = _WEIGHTS_EXPORTS * has_weights + _STATE_EXPORTS * has_state
    exports += _COMMUNICATION_EXPORTS * communicates(module)
    for name, target, result, arguments in exports:
        signature = ir.Type.parse(f"!llvm.func<{result} ({', '.join(arguments)})>")
        function = llvm.function(name, signature, linkage="weak_odr")
        types = {"ptr": code.types.ptr, "i64": code.types.i64, "i32": code.types.i32}
        block = function.regions[0].blocks.append(*[types[kind] for kind in arguments])
        with ir.InsertionPoint(block):
            value = code.call(target, list(block.arguments), types.get(result))
            llvm.end(value)

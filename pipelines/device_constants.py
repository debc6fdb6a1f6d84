"""Constants of functions whose buffers are the device's: they become device variables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..dialects import hir
from ..dialects.mlir import gpu, ir
from .symbols import fresh_symbol
from .walking import operations_where

_GPU_MODULE = "constants"


def move_to_device(module: ir.Operation, functions: Sequence[ir.Operation]) -> None:
    """Makes device variables of the initialized globals that `functions` use.

    The value goes to a gpu.module; what is left on the host is a declaration, so that
    memref.get_global is the address on the device (see docs/gpu-programs.md).
    """
    _replace_empty(module, functions)
    _give_plain_names(module)
    symbols = ir.SymbolTable(module)
    names = {
        ir.FlatSymbolRefAttr(use.attributes["name"]).value
        for function in functions
        for use in operations_where(function, lambda op: op.name == "memref.get_global")
    }
    target: ir.InsertionPoint | None = None
    for name in sorted(names):
        constant = symbols[name].operation
        if "initial_value" not in constant.attributes:
            continue
        if target is None:
            target = _device_module(module)
        # What is private to the device code, the host could not find.
        variable = constant.clone(target)
        if "sym_visibility" in variable.attributes:
            del variable.attributes["sym_visibility"]
        del constant.attributes["initial_value"]
        if "constant" in constant.attributes:
            del constant.attributes["constant"]


def _replace_empty(module: ir.Operation, functions: Sequence[ir.Operation]) -> None:
    """A constant without elements is any buffer of its sizes: no variable stands for it."""
    for function in functions:
        for use in operations_where(function, lambda op: op.name == "memref.get_global"):
            kind = ir.MemRefType(use.results[0].type)
            if 0 in kind.shape:
                with use.location, ir.InsertionPoint(use):
                    made = ir.Operation.create(
                        hir.AllocateOp.OPERATION_NAME,
                        results=[kind],
                        attributes={"zero_init": ir.UnitAttr.get()},
                    )
                use.results[0].replace_all_uses_with(made.results[0])
                use.erase()


def _give_plain_names(module: ir.Operation) -> None:
    """Names such as `__constant_3xcomplex<f32>` are none that a linker takes unquoted."""
    for op in list(module.regions[0].blocks[0]):
        if op.operation.name != "memref.global":
            continue
        name = ir.StringAttr(op.attributes["sym_name"]).value
        plain = re.sub(r"\W", "_", name)
        if plain == name:
            continue
        plain = fresh_symbol(module, plain)
        op.attributes["sym_name"] = ir.StringAttr.get(plain)
        for use in operations_where(module, lambda inner: inner.name == "memref.get_global"):
            if ir.FlatSymbolRefAttr(use.attributes["name"]).value == name:
                use.attributes["name"] = ir.FlatSymbolRefAttr.get(plain)


def _device_module(module: ir.Operation) -> ir.InsertionPoint:
    name = fresh_symbol(module, _GPU_MODULE)
    with module.location, ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        made = gpu.GPUModuleOp(name).operation
    module.attributes["gpu.container_module"] = ir.UnitAttr.get()
    blocks = made.regions[0].blocks
    return ir.InsertionPoint(blocks[0] if list(blocks) else blocks.append())

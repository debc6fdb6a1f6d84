"""Lets device code call the functions it declares by their own names."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register

_PREFIX = "_mlir_ciface_"


@register
@dataclass(frozen=True)
class UndoDeviceWrappers(Pass):
    """Removes the C wrappers that `convert-gpu-to-nvvm` puts around every function.

    For a function that a gpu.module declares, the wrapper calls `_mlir_ciface_` and its name,
    which no bitcode library defines. Runs on a gpu.module after `convert-gpu-to-nvvm`.

      llvm.func @f(%x: f32) -> f32 { llvm.call @_mlir_ciface_f(%x) ... }
      llvm.func @_mlir_ciface_f(f32) -> f32          ->   llvm.func @f(f32) -> f32
    """

    name: ClassVar[str] = "undo-device-wrappers"

    def run(self, op: ir.Operation) -> bool:
        has_changed = False
        functions = {
            ir.StringAttr(child.attributes["sym_name"]).value: child.operation
            for child in op.regions[0].blocks[0]
            if child.operation.name == "llvm.func"
        }
        for name, wrapper in functions.items():
            wrapped = functions.get(name.removeprefix(_PREFIX))
            if wrapped is None or wrapped == wrapper:
                continue
            if not list(wrapper.regions[0].blocks):
                _replace_by_declaration(wrapped)
            wrapper.erase()
            has_changed = True
        return has_changed


def _replace_by_declaration(function: ir.Operation) -> None:
    """Puts the same function without a body in its place."""
    ir.Operation.create(
        "llvm.func",
        attributes={
            name: function.attributes[name]
            for name in function.attributes
            if name not in ("linkage", "sym_visibility", "llvm.emit_c_interface")
        },
        regions=1,
        loc=function.location,
        ip=ir.InsertionPoint(function),
    )
    function.erase()

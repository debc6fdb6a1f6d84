"""Lets kernels read TMA descriptors where the launch put them."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..tensormap import ALIGNMENT, struct_type


@register
@dataclass(frozen=True)
class TensormapGridConstants(Pass):
    """Makes lowered kernels' TMA descriptors grid constants, parameters that have an address.

    The tensor memory accelerator takes a descriptor's address. Without the mark the backend
    copies a by-value parameter to the thread's stack as soon as its address is taken, where the
    accelerator cannot read it.

        llvm.func @k(%map: !llvm.struct<"tensormap", (array<16 x i64>)>) attributes {nvvm.kernel}
    becomes
        llvm.func @k(%map: !llvm.ptr {llvm.align = 64 : i64, nvvm.grid_constant,
                                      llvm.byval = !llvm.struct<"tensormap", ...>}) ...
    """

    name: ClassVar[str] = "tensormap-grid-constants"

    def run(self, op: ir.Operation) -> None:
        for child in op.regions[0].blocks[0]:
            inner = child.operation
            if inner.name == "llvm.func" and "nvvm.kernel" in inner.attributes:
                _pass_addresses(inner)


def _pass_addresses(kernel: ir.Operation) -> None:
    tensormap = struct_type(kernel.context)
    parameters = list(kernel.regions[0].blocks[0].arguments) if kernel.regions[0].blocks else []
    if not any(parameter.type == tensormap for parameter in parameters):
        return
    attributes: list[ir.Attribute] = (
        list(ir.ArrayAttr(kernel.attributes["arg_attrs"]))
        if "arg_attrs" in kernel.attributes
        else [ir.DictAttr.get({})] * len(parameters)
    )
    for index, parameter in enumerate(parameters):
        if parameter.type == tensormap:
            parameter.set_type(ir.Type.parse("!llvm.ptr"))
            attributes[index] = ir.DictAttr.get(
                {
                    "llvm.align": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT),
                    "llvm.byval": ir.TypeAttr.get(tensormap),
                    "nvvm.grid_constant": ir.UnitAttr.get(),
                }
            )
    kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    types = ", ".join(str(parameter.type) for parameter in parameters)
    kernel.attributes["function_type"] = ir.TypeAttr.get(
        ir.Type.parse(f"!llvm.func<void ({types.replace('!llvm.', '')})>")
    )

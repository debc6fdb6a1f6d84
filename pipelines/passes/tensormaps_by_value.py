"""Hands TMA descriptors to kernels by value."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..tensormap import is_descriptor, struct_type
from ..walking import host_operations_where
from .name_device_symbols import is_kernel


@register
@dataclass(frozen=True)
class TensormapsByValue(Pass):
    """Gives kernels' TMA descriptor parameters the type of the 128 bytes they are.

    `convert-gpu-to-nvvm` does not know the descriptor's type; upstream's way is a pointer to a
    copy in device memory. By value the descriptor travels inside the launch's parameters: there
    is no device memory to own or free, and no proxy fence needed in the kernel.

        gpu.launch_func @m::@k ... args(%map : !nvgpu.tensormap.descriptor<...>)
        gpu.func @k(%map: !nvgpu.tensormap.descriptor<...>) kernel
    becomes
        %bytes = builtin.unrealized_conversion_cast %map
            : !nvgpu.tensormap.descriptor<...> to !llvm.struct<"tensormap", (array<16 x i64>)>
        gpu.launch_func @m::@k ... args(%bytes : !llvm.struct<"tensormap", ...>)
        gpu.func @k(%bytes: !llvm.struct<"tensormap", (array<16 x i64>)>) kernel {
          %map = builtin.unrealized_conversion_cast %bytes : ...

    `tensormap-grid-constants` finishes the kernel's side once it is an llvm.func.
    """

    name: ClassVar[str] = "tensormaps-by-value"

    def run(self, op: ir.Operation) -> None:
        for module in op.regions[0].blocks[0]:
            if module.operation.name != "gpu.module":
                continue
            for child in module.operation.regions[0].blocks[0]:
                function = child.operation
                if function.name == "gpu.func" and is_kernel(function):
                    _receive_by_value(function)
        for launch in host_operations_where(op, lambda inner: inner.name == "gpu.launch_func"):
            _launch_by_value(launch)


def _receive_by_value(kernel: ir.Operation) -> None:
    entry = kernel.regions[0].blocks[0]
    signature = ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value)
    inputs = list(signature.inputs)
    tensormap = struct_type(kernel.context)
    for index, kind in enumerate(inputs):
        if not is_descriptor(kind):
            continue
        parameter = entry.arguments[index]
        parameter.set_type(tensormap)
        descriptor = _cast(parameter, kind, ir.InsertionPoint.at_block_begin(entry))
        parameter.replace_all_uses_except(descriptor, descriptor.owner.operation)
        inputs[index] = tensormap
    kernel.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, list(signature.results))
    )


def _launch_by_value(launch: ir.Operation) -> None:
    tensormap = struct_type(launch.context)
    for index, operand in enumerate(launch.operands):
        if is_descriptor(operand.type):
            launch.operands[index] = _cast(operand, tensormap, ir.InsertionPoint(launch))


def _cast(value: ir.Value, target: ir.Type, point: ir.InsertionPoint) -> ir.OpResult:
    return ir.Operation.create(
        "builtin.unrealized_conversion_cast", [target], [value], loc=value.location, ip=point
    ).result

"""add-offload-entries: says which device symbols the host names, and what stands for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import ir, llvm
from ...dialects.offload import EntryKind, EntryOp
from ..device_variable import DeviceVariable, device_variables
from ..host.emitter import Emitter
from ..offload_symbols import device_symbol, stub_symbol
from ..pass_base import Pass, fail, register
from .name_device_symbols import is_kernel

_CONSTANT_MEMORY = 4


@register
@dataclass(frozen=True)
class AddOffloadEntries(Pass):
    """Adds an offload.entry and a host symbol for every kernel and shared device variable.

    A kernel gets a one-byte host constant, its stub. A variable that a gpu.module defines and the
    host declares (no initial value) under the same name is shared: the host's declaration becomes
    its shadow, whose address the CUDA runtime takes for the variable, and a host
    memref.get_global of it becomes the variable's device address.

      memref.global "private" @hits : memref<4xi32>              // host: a declaration
      gpu.module @m { memref.global @hits : memref<4xi32> = dense<0> ... }
    """

    name: ClassVar[str] = "add-offload-entries"
    unit: str = ""

    def run(self, op: ir.Operation) -> None:
        emitter = Emitter(op)
        body = op.regions[0].blocks[0]
        modules = [child.operation for child in body if child.operation.name == "gpu.module"]
        declared = _host_declarations(op)
        shared: dict[str, DeviceVariable] = {}
        for module in modules:
            for function in module.regions[0].blocks[0]:
                if is_kernel(function.operation):
                    self._add_kernel(function.operation, emitter, body)
            for variable in device_variables(module):
                if variable.name not in declared:
                    continue
                if variable.name in shared:
                    fail(
                        variable.op,
                        f"device variable '{variable.name}' is declared by the host and defined "
                        "in two gpu.modules; give them different names",
                    )
                shared[variable.name] = variable
        for name, variable in shared.items():
            self._share(declared[name], variable, emitter, body)

    def _add_kernel(self, kernel: ir.Operation, emitter: Emitter, body: ir.Block) -> None:
        name = ir.StringAttr(kernel.attributes["sym_name"]).value
        byte = ir.IntegerType.get_signless(8)
        emitter.global_constant(stub_symbol(name), byte, ir.IntegerAttr.get(byte, 0))
        _entry(name, stub_symbol(name), EntryKind.KERNEL, 0, kernel.location, body)

    def _share(
        self, shadow: ir.Operation, variable: DeviceVariable, emitter: Emitter, body: ir.Block
    ) -> None:
        if shadow.name == "memref.global":
            kind = ir.TypeAttr(shadow.attributes["type"]).value
            if kind != variable.kind:
                fail(
                    shadow,
                    f"device variable '{variable.name}' is declared as {kind} and defined as "
                    f"{variable.kind}",
                )
        scope = variable.module
        name = device_symbol(scope.attributes["sym_name"].value, variable.name, self.unit)
        ir.SymbolTable.replace_all_symbol_uses(variable.name, name, scope)
        variable.op.attributes["sym_name"] = ir.StringAttr.get(name)
        with shadow.location:
            _address_uses(variable.name, emitter)
            storage = ir.Type.parse(f"!llvm.array<{variable.size} x i8>")
            shadow.erase()
            llvm.GlobalOp(
                ir.TypeAttr.get(storage),
                variable.name,
                ir.Attribute.parse("#llvm.linkage<internal>"),
                value=ir.StringAttr.get("\0" * variable.size),
                alignment=16,
                ip=ir.InsertionPoint.at_block_begin(body),
            )
        kind = EntryKind.CONSTANT if variable.space == _CONSTANT_MEMORY else EntryKind.GLOBAL
        _entry(name, variable.name, kind, variable.size, variable.op.location, body)


def _entry(
    name: str, host: str, kind: EntryKind, size: int, location: ir.Location, body: ir.Block
) -> None:
    EntryOp(
        ir.StringAttr.get(name),
        ir.FlatSymbolRefAttr.get(host),
        ir.StringAttr.get(kind),
        ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size),
        loc=location,
        ip=ir.InsertionPoint(body),
    )


def _host_declarations(module: ir.Operation) -> dict[str, ir.Operation]:
    """Host globals with no initial value, by name."""
    found: dict[str, ir.Operation] = {}
    for child in module.regions[0].blocks[0]:
        op = child.operation
        attributes = op.attributes
        if (op.name == "memref.global" and "initial_value" not in attributes) or (
            op.name == "llvm.mlir.global"
            and "value" not in attributes
            and not any(list(region.blocks) for region in op.regions)
        ):
            found[ir.StringAttr(attributes["sym_name"]).value] = op
    return found


def _address_uses(name: str, emitter: Emitter) -> None:
    """Turns the host's memref.get_global of a shadow into the variable's device address."""
    uses: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if (
            op.name == "memref.get_global"
            and ir.FlatSymbolRefAttr(op.attributes["name"]).value == name
        ):
            uses.append(op)
        return ir.WalkResult.ADVANCE

    for child in emitter.module.regions[0].blocks[0]:
        if child.operation.name != "gpu.module":
            child.operation.walk(visit)
    for op in uses:
        kind = ir.MemRefType(op.results[0].type)
        emit = emitter.at(op)
        slot = emit.stack_slot(emit.types.ptr)
        emit.checked_call("cudaGetSymbolAddress", [slot, emit.address_of(name)])
        address = emit.load(emit.types.ptr, slot)
        op.results[0].replace_all_uses_with(emit.packed_memref(kind, address))
        op.erase()

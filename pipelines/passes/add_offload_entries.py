"""add-offload-entries: says which device symbols the host names, and what stands for them."""

from __future__ import annotations

from typing import ClassVar

from ...dialects import llvm
from ...dialects.mlir import ir
from ...dialects.offload import EntryKind, EntryOp
from ...dialects.records import dataclass
from ..device_variable import DeviceVariable, device_variables, is_declaration
from ..host.emitter import Emitter
from ..offload_symbols import device_symbol, stub_symbol, unlike
from ..pass_base import Pass, fail, register
from ..walking import host_operations_where
from .name_device_symbols import is_kernel

_CONSTANT_MEMORY = 4


@register
@dataclass(frozen=True)
class AddOffloadEntries(Pass):
    """Adds an offload.entry and a host symbol for every kernel and shared device variable.

    A kernel gets a one-byte host constant, its stub. A variable that a gpu.module defines and the
    host declares (no initial value) under the same name is shared: the host's declaration becomes
    its shadow, whose address the CUDA runtime takes for the variable, and a host
    memref.get_global of it becomes the variable's device address. gpu.modules that only declare
    it get the same variable; where all of them do, the first one defines it.

      memref.global "private" @hits : memref<4xi32>              // host: a declaration
      gpu.module @m { memref.global @hits : memref<4xi32> = dense<0> ... }

    A gpu.launch that uses a host global gets a copy of it, which is no longer the host's: that is
    an error unless the global is constant or only declared.
    """

    name: ClassVar[str] = "add-offload-entries"
    unit: str = ""

    def run(self, op: ir.Operation) -> None:
        emitter = Emitter(op)
        body = op.regions[0].blocks[0]
        modules = [child.operation for child in body if child.operation.name == "gpu.module"]
        declared, stored = _host_globals(op)
        shared: dict[str, list[DeviceVariable]] = {}
        for module in modules:
            for function in module.regions[0].blocks[0]:
                if is_kernel(function.operation):
                    self._add_kernel(function.operation, emitter, body)
            for variable in device_variables(module):
                _refuse_copy(variable, stored.get(variable.name))
                if variable.name in declared:
                    shared.setdefault(variable.name, []).append(variable)
                elif variable.is_declaration:
                    _make_public(variable.op)
        uses = _address_uses(op) if shared else {}
        taken = _device_names(body)
        for name, variables in shared.items():
            taken.add(self._share(declared[name], variables, taken, emitter, body))
            for use in uses.get(name, []):
                _take_address(use, name, emitter)

    def _add_kernel(self, kernel: ir.Operation, emitter: Emitter, body: ir.Block) -> None:
        name = ir.StringAttr(kernel.attributes["sym_name"]).value
        byte = ir.IntegerType.get_signless(8)
        emitter.global_constant(stub_symbol(name), byte, ir.IntegerAttr.get(byte, 0))
        _entry(name, stub_symbol(name), EntryKind.KERNEL, 0, kernel.location, body)

    def _share(
        self,
        shadow: ir.Operation,
        variables: list[DeviceVariable],
        taken: set[str],
        emitter: Emitter,
        body: ir.Block,
    ) -> str:
        """Makes a variable of the device's stand for the host's; returns its name in device code.

        None of those `taken`.
        """
        variable = _definition(variables)
        if shadow.name == "memref.global":
            kind = ir.TypeAttr(shadow.attributes["type"]).value
            for other in variables:
                if kind != other.kind:
                    fail(
                        shadow,
                        f"device variable '{variable.name}' is declared as {kind} and defined as "
                        f"{other.kind}",
                    )
        if not variable.size:
            fail(variable.op, f"'{variable.name}' has no elements to share with the host")
        scope = variable.module
        name = device_symbol(scope.attributes["sym_name"].value, variable.name, self.unit)
        name = unlike(name, taken)
        for other in variables:
            if other.is_declaration:
                _make_public(other.op)
            ir.SymbolTable.replace_all_symbol_uses(other.name, name, other.module)
            other.op.attributes["sym_name"] = ir.StringAttr.get(name)
        if variable.is_declaration:
            _give_storage(variable)
        with shadow.location:
            storage = ir.Type.parse(f"!llvm.array<{variable.size} x i8>")
            shadow.erase()
            here = ir.InsertionPoint.at_block_begin(body)
            made = llvm.variable(variable.name, storage, "internal", alignment=16, ip=here)
            with ir.InsertionPoint(made.regions[0].blocks.append()):
                llvm.end(llvm.zero(storage))
        kind = EntryKind.CONSTANT if variable.space == _CONSTANT_MEMORY else EntryKind.GLOBAL
        _entry(name, variable.name, kind, variable.size, variable.op.location, body)
        return name


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


def _device_names(body: ir.Block) -> set[str]:
    """Returns what the entries so far are called in the device code."""
    return {op.device_name.value for op in body if isinstance(op, EntryOp)}


def _host_globals(
    module: ir.Operation,
) -> tuple[dict[str, ir.Operation], dict[str, ir.Operation]]:
    """Returns the host's globals by name: those only declared, and those with storage that may
    change.
    """
    declared: dict[str, ir.Operation] = {}
    stored: dict[str, ir.Operation] = {}
    for child in module.regions[0].blocks[0]:
        op = child.operation
        if op.name not in ("memref.global", "llvm.mlir.global"):
            continue
        name = ir.StringAttr(op.attributes["sym_name"]).value
        if is_declaration(op):
            declared[name] = op
        elif "constant" not in op.attributes:
            stored[name] = op
    return declared, stored


def _refuse_copy(variable: DeviceVariable, host: ir.Operation | None) -> None:
    """Fails where a variable is the copy of a host global that outlining a kernel makes."""
    if host is not None and str(host) == str(variable.op):
        fail(
            host,
            f"kernels would get a copy of the host's global '{variable.name}' and see none of the "
            "host's writes: make it constant, pass it in device memory as an argument, or share "
            "it: declare it without a value on the host and define it in the gpu.module",
        )


def _definition(variables: list[DeviceVariable]) -> DeviceVariable:
    """Returns the one among a shared variable's gpu.modules that has its storage, or
    is to get it.
    """
    first, *others = [
        variable for variable in variables if not variable.is_declaration
    ] or variables[:1]
    if others:
        fail(
            others[0].op,
            f"device variable '{first.name}' is declared by the host and defined in two "
            "gpu.modules; give them different names",
        )
    return first


def _make_public(op: ir.Operation) -> None:
    """A private declaration would become undefined contents in LLVM's IR, without an error."""
    if "sym_visibility" in op.attributes:
        del op.attributes["sym_visibility"]


def _give_storage(variable: DeviceVariable) -> None:
    """Makes a declaration a definition; CUDA fills one without a value with zeros."""
    op = variable.op
    if op.name == "memref.global":
        op.attributes["initial_value"] = ir.UnitAttr.get(op.context)
        return
    block = op.regions[0].blocks.append()
    with ir.InsertionPoint(block), op.location:
        llvm.end(llvm.zero(variable.kind))


def _address_uses(module: ir.Operation) -> dict[str, list[ir.Operation]]:
    """Returns the host's memref.get_globals, by what they name."""
    found: dict[str, list[ir.Operation]] = {}
    for op in host_operations_where(module, lambda inner: inner.name == "memref.get_global"):
        found.setdefault(ir.FlatSymbolRefAttr(op.attributes["name"]).value, []).append(op)
    return found


def _take_address(op: ir.Operation, name: str, emitter: Emitter) -> None:
    """Turns the host's memref.get_global of a shadow into the variable's device address."""
    kind = ir.MemRefType(op.results[0].type)
    emit = emitter.at(op)
    slot = emit.stack_slot(emit.types.ptr)
    emit.checked_call("cudaGetSymbolAddress", [slot, emit.address_of(name)])
    address = emit.load(emit.types.ptr, slot)
    op.results[0].replace_all_uses_with(emit.packed_memref(kind, address))
    op.erase()

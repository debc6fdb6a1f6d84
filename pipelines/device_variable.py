"""Variables of a gpu.module, whichever dialect spells them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..dialects.mlir import ir
from ..dialects.records import dataclass
from .host.types import element_bytes
from .pass_base import fail
from .symbols import symbol_name

_WORKGROUP_SPACES = ("#gpu.address_space<workgroup>", "#gpu.address_space<private>", "3", "5")


@dataclass(frozen=True)
class DeviceVariable:
    """A global of a gpu.module: its name, type, and address space (4 is constant)."""

    module: ir.Operation
    op: ir.Operation
    name: str
    kind: ir.Type
    space: int

    @property
    def size(self) -> int:
        """Its bytes. Fails for a type whose size only LLVM knows."""
        if not isinstance(self.kind, ir.MemRefType):
            return _llvm_bytes(self.op, self.kind)
        return prod(self.kind.shape) * element_bytes(self.kind.element_type)

    @property
    def is_declaration(self) -> bool:
        return is_declaration(self.op)


def device_variables(module: ir.Operation) -> Iterator[DeviceVariable]:
    """Yields the variables in global or constant memory that a gpu.module defines or declares."""
    for child in module.regions[0].blocks[0]:
        op = child.operation
        if op.name == "memref.global":
            variable = _memref_variable(module, op)
        elif op.name == "llvm.mlir.global":
            variable = _llvm_variable(module, op)
        else:
            continue
        if variable is not None:
            yield variable


def _memref_variable(module: ir.Operation, op: ir.Operation) -> DeviceVariable | None:
    kind = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)
    space = kind.memory_space
    if space is not None and str(space).partition(" ")[0] in _WORKGROUP_SPACES:
        return None
    constant = space is not None and str(space).partition(" ")[0] in (
        "4",
        "#gpu.address_space<constant>",
    )
    return DeviceVariable(module, op, symbol_name(op), kind, 4 if constant else 1)


def _llvm_variable(module: ir.Operation, op: ir.Operation) -> DeviceVariable | None:
    space = (
        ir.IntegerAttr(op.attributes["addr_space"]).value if "addr_space" in op.attributes else 0
    )
    if space not in (0, 1, 4):
        return None
    kind = ir.TypeAttr(op.attributes["global_type"]).value
    return DeviceVariable(module, op, symbol_name(op), kind, 4 if space == 4 else 1)


def is_declaration(op: ir.Operation) -> bool:
    """Returns whether a global, memref's or LLVM's, has no storage of its own: no value, no
    initializer.
    """
    if op.name == "memref.global":
        return "initial_value" not in op.attributes
    return "value" not in op.attributes and not any(list(region.blocks) for region in op.regions)


def _llvm_bytes(op: ir.Operation, kind: ir.Type) -> int:
    """Bytes of a variable of an LLVM-dialect type."""
    text = str(kind)
    if text.startswith("!llvm.array<"):
        count, _, element = text[len("!llvm.array<") : -1].partition(" x ")
        return int(count) * _llvm_bytes(op, ir.Type.parse(_qualified(element), op.context))
    if text == "!llvm.ptr":
        return 8
    if isinstance(kind, (ir.IntegerType, ir.FloatType, ir.VectorType)):
        return element_bytes(kind)
    return fail(
        op, f"a device variable of type {kind} cannot be shared with the host; use an array"
    )


def _qualified(text: str) -> str:
    return f"!llvm.{text}" if text.startswith(("array<", "ptr", "struct<")) else text

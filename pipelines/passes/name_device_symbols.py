"""name-device-symbols: gives kernels names no other module or translation unit has."""

from __future__ import annotations

import re
from collections import Counter
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..offload_symbols import device_symbol, stub_symbol, unlike
from ..pass_base import Pass, register
from ..walking import host_operations_where

ELSEWHERE = "offload.elsewhere"
# What PTX takes for a name, and neither CUDA nor hirc has a function or constant of.
_PLAIN_NAME = re.compile(
    r"(?!__|_?nv|hirc_|(?:malloc|free|v?printf|mem(?:cpy|set|move)|WARP_SZ)$)[A-Za-z_][A-Za-z0-9_$]*"
)
_SYMBOL = re.compile(r'@(?:([\w.$-]+)|"([^"]*)")')
# Attributes that refer to nothing.
_PLAIN = (
    *(ir.StringAttr, ir.IntegerAttr, ir.FloatAttr, ir.TypeAttr, ir.UnitAttr, ir.AffineMapAttr),
    *(ir.DenseElementsAttr, ir.DenseI32ArrayAttr, ir.DenseI64ArrayAttr),
)
# Nor do operations of these dialects, which are most of a kernel.
_WITHOUT_SYMBOLS = ("arith.", "math.", "vector.", "scf.", "cf.")


@register
@dataclass(frozen=True)
class NameDeviceSymbols(Pass):
    """Renames every kernel after its gpu.module and translation unit.

    The device linker merges equal names in two images silently, keeping one body.

      gpu.module @m { gpu.func @k() kernel ... }      ->   gpu.func @m__k__1f2e() kernel
      gpu.launch_func @m::@k ...                      ->   gpu.launch_func @m::@m__k__1f2e

    Where the attribute `offload.elsewhere` of the module says what other units of the program claim
    (see `claimed_names`), a kernel keeps the name that it has if nothing else of the program's
    device code has it. Where there is none, any other unit may come.
    """

    name: ClassVar[str] = "name-device-symbols"
    unit: str = ""

    def run(self, op: ir.Operation) -> None:
        renamed: dict[tuple[str, str], str] = {}
        kept = set[str]()
        if ELSEWHERE in op.attributes:
            kept = _unique_names(op)
            del op.attributes[ELSEWHERE]
        for module in op.regions[0].blocks[0]:
            if module.operation.name == "gpu.module":
                self._rename_kernels(module.operation, renamed, kept)

        for launch in host_operations_where(op, lambda inner: inner.name == "gpu.launch_func"):
            module, kernel = ir.SymbolRefAttr(launch.attributes["kernel"]).value
            name = renamed.get((module, kernel))
            if name is not None:
                launch.attributes["kernel"] = ir.SymbolRefAttr.get([module, name])

    def _rename_kernels(
        self, module: ir.Operation, renamed: dict[tuple[str, str], str], kept: set[str]
    ) -> None:
        scope = ir.StringAttr(module.attributes["sym_name"]).value
        used: set[str] | None = None
        taken = set(renamed.values())
        for function in module.regions[0].blocks[0]:
            if not is_kernel(function.operation):
                continue
            old = ir.StringAttr(function.attributes["sym_name"]).value
            new = old if old in kept else unlike(device_symbol(scope, old, self.unit), taken)
            if new != old:
                # Either looks at every operation of the module.
                used = _used_symbols(module) if used is None else used
                if old in used:
                    ir.SymbolTable.replace_all_symbol_uses(old, new, module)
            function.attributes["sym_name"] = ir.StringAttr.get(new)
            renamed[scope, old] = new
            taken.add(new)


def claimed_names(program: ir.Operation) -> list[str]:
    """Returns the names that operations of gpu.modules have, and those whose stubs the host has."""
    claimed: list[str] = []
    for child in program.regions[0].blocks[0]:
        if child.operation.name == "gpu.module":
            for inner in child.operation.regions[0].blocks[0]:
                claimed += _symbol(inner.operation)
        else:
            stub = stub_symbol("")
            names = _symbol(child.operation)
            claimed += [name.removesuffix(stub) for name in names if name.endswith(stub)]
    return claimed


def _unique_names(program: ir.Operation) -> set[str]:
    """Returns the names that are claimed once in the whole program, and mean nothing else."""
    elsewhere = ir.ArrayAttr(program.attributes[ELSEWHERE])
    counts = Counter(claimed_names(program))
    counts.update(ir.StringAttr(name).value for name in elsewhere)
    return {name for name, count in counts.items() if count == 1 and _PLAIN_NAME.fullmatch(name)}


def _symbol(op: ir.Operation) -> list[str]:
    if "sym_name" not in op.attributes:
        return []
    return [ir.StringAttr(op.attributes["sym_name"]).value]


def _used_symbols(module: ir.Operation) -> set[str]:
    """Returns the symbols that operations within a module refer to."""
    found: set[str] = set()

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name.startswith(_WITHOUT_SYMBOLS):
            return ir.WalkResult.ADVANCE
        for name in inner.attributes:
            try:
                attribute = inner.attributes[name]
            except TypeError:
                # The bindings have no class for dense elements of complex numbers.
                continue
            found.update(_symbols_in(attribute))
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def _symbols_in(attribute: ir.Attribute) -> list[str]:
    if isinstance(attribute, ir.FlatSymbolRefAttr):
        return [attribute.value]
    if isinstance(attribute, ir.SymbolRefAttr):
        return attribute.value[:1]
    if isinstance(attribute, ir.ArrayAttr):
        return [symbol for each in attribute for symbol in _symbols_in(each)]
    if isinstance(attribute, ir.DictAttr):
        return [symbol for named in attribute for symbol in _symbols_in(named.attr)]
    if isinstance(attribute, _PLAIN):
        return []
    # A dialect's own, which may have any in it.
    return [bare or quoted for bare, quoted in _SYMBOL.findall(str(attribute))]


def is_kernel(function: ir.Operation) -> bool:
    """Returns whether a function of a gpu.module can be launched."""
    return any(mark in function.attributes for mark in ("gpu.kernel", "nvvm.kernel", "kernel"))

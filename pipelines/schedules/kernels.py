"""The gpu.module that holds a module's scheduled kernels, each of them once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from ...dialects.mlir import gpu, ir
from ..fusion.generic import CONFIGURATION
from ..symbols import fresh_symbol
from ..walking import operations_where
from .alternatives import Alternative
from .dependents import await_previous
from .device import Device
from .launch import operation_name
from .parameters import Parameters
from .work import Work

MODULE_NAME = "kernels"
# An attribute of kernels: hir-join-classes makes one of those of an operation in the same group.
GROUP = "hirc.group"
# The group of kernels that take any sizes, strides and addresses, an element at a time.
ANY = "any"


class Emitter(Protocol):
    """Emits a kernel's body, at the insertion point."""

    def emit(self) -> None: ...


E = TypeVar("E", bound=Emitter)


class Kernels:
    """Makes kernels in one gpu.module; equal ones become one function."""

    def __init__(self, module: ir.Operation) -> None:
        self._parent = module
        self._module: ir.Operation | None = None
        self._by_text: dict[str, str] = {}
        self._count = 0
        self._duplicates: list[ir.Operation] = []
        self._are_apart = False
        self._awaiting: Device | None = None

    @contextmanager
    def awaiting(self, device: Device) -> Generator[None]:
        """Makes kernels that are launched before those before them have ended, and wait."""
        self._awaiting = device
        yield
        self._awaiting = None

    def apart(self, found: Alternative) -> Alternative:
        """An alternative whose kernels are in no group."""
        conditions, launch = found

        def launch_apart() -> None:
            before, self._are_apart = self._are_apart, True
            launch()
            self._are_apart = before

        return conditions, launch_apart

    def add(
        self,
        name: str,
        arguments: Sequence[ir.Type],
        block_size: int,
        emit: Callable[[Sequence[ir.Value]], None],
        location: ir.Location,
        group: str | None = None,
    ) -> ir.SymbolRefAttr:
        """A reference to a kernel of these arguments with the body that `emit` builds.

        `name` is what it does, in a word or two; a number is added. `block_size` threads in x.
        """

        def build(entry: ir.Block) -> None:
            for kind in arguments:
                entry.add_argument(kind, location)
            emit(list(entry.arguments))

        return self.build(name, block_size, build, location, group=group)

    def build(
        self,
        name: str,
        block_size: int | None,
        emit: Callable[[ir.Block], None],
        location: ir.Location,
        attributes: Mapping[str, ir.Attribute] | None = None,
        configuration: ir.DictAttr | None = None,
        group: str | None = None,
    ) -> ir.SymbolRefAttr:
        """The same of a kernel whose body adds the arguments to its entry block itself.

        Without a `block_size` the launch alone says how many threads a block has.
        `attributes` are further ones of the gpu.func, nvvm's for the assembler; `configuration` is
        what was decided of it, of which equal kernels have the first one's. Kernels of an operation
        that are in one `group` become one: they need about as many registers.
        """
        module = self._module or self._make_module()
        with location, ir.InsertionPoint(module.regions[0].blocks[0]):
            none = ir.FunctionType.get([], [])
            sizes = None if block_size is None else [block_size, 1, 1]
            function = gpu.GPUFuncOp(none, sym_name="kernel", kernel=True, known_block_size=sizes)
            body = function.add_entry_block()
            with ir.InsertionPoint(body):
                await_previous(self._awaiting)
                emit(body)
                gpu.ReturnOp([])
            kinds = [argument.type for argument in body.arguments]
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, []))
            for key, value in (attributes or {}).items():
                function.attributes[key] = value
            if group is not None and not self._are_apart:
                function.attributes[GROUP] = ir.StringAttr.get(group)
        text = str(function.operation.get_asm(assume_verified=True, use_local_scope=True))
        if "cf.assert" in text:
            # A check that fails names its place: kernels of other places are others.
            checks = operations_where(function.operation, lambda op: op.name == "cf.assert")
            text += "".join(str(check.location) for check in checks)
        known = self._by_text.get(text)
        if known is not None:
            self._duplicates.append(function.operation)
            function.attributes["sym_name"] = ir.StringAttr.get(
                f"duplicate_{len(self._duplicates)}"
            )
        else:
            known = self._by_text[text] = f"{name}_{self._count}"
            self._count += 1
            function.attributes["sym_name"] = ir.StringAttr.get(known)
            if configuration is not None:
                function.attributes[CONFIGURATION] = configuration
        module_name = ir.StringAttr(module.attributes["sym_name"]).value
        return ir.SymbolRefAttr.get([module_name, known])

    def of_work(
        self,
        work: Work,
        threads: int,
        make: Callable[[Parameters], E],
        name: str = "",
        configuration: ir.DictAttr | None = None,
        group: str | None = None,
    ) -> tuple[ir.SymbolRefAttr, E]:
        """The same of an operation's kernel; and what emits its body, made with its parameters."""
        made: list[E] = []

        def emit(entry: ir.Block) -> None:
            made.append(make(Parameters(entry, work.open)))
            made[0].emit()

        name, place = name or operation_name(work.op), work.op.location
        kernel = self.build(name, threads, emit, place, {}, configuration, group)
        return kernel, made[0]

    def finish(self) -> None:
        """Drops the kernels that were made twice."""
        for function in self._duplicates:
            function.erase()
        self._duplicates.clear()

    def _make_module(self) -> ir.Operation:
        name = fresh_symbol(self._parent, MODULE_NAME)
        with ir.InsertionPoint(self._parent.regions[0].blocks[0]):
            self._module = gpu.GPUModuleOp(name).operation
        if not list(self._module.regions[0].blocks):
            self._module.regions[0].blocks.append()
        self._parent.attributes["gpu.container_module"] = ir.UnitAttr.get()
        return self._module

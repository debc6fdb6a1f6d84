"""A program to code that is not linked: loaded into this process, or linked when it is saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path

from ..dialects.offload import EntryKind, ImageFormat
from ..dialects.records import dataclass
from . import activity
from .amd_code import code_object
from .child import Child
from .code import KERNELS, LISTED, VARIABLES, Code, Entry
from .collection import seldom_collected
from .device_containers import DeviceCode
from .driver import Compilation
from .host_code import entries_of, host_object
from .llvm_ir import LlvmModule, host_machine
from .option_checks import check_options
from .options import Options
from .output import scratch_folder
from .parse import refuse_unreadable
from .ptx import assembling, begin_ptx, finish_ptx
from .runtime_library import runtime_library
from .session import Session, SharedSession
from .source import Source
from .target import Devices, Target
from .toolchain import LINKING_PARTS, Cuda, find_cuda
from .unit import CpuSource, Unit
from .weights import Weights, file_beside


@dataclass(frozen=True)
class Compiled:
    """Code, the runtime that it calls, and its weights with their values.

    A link takes the host's code as `bitcode`, and makes that of the CPU device anew of `device`,
    for other processors than this machine's too.
    """

    code: Code
    runtime: bytes
    weights: Weights | None
    bitcode: bytes
    device: CpuSource | None

    @property
    def can_be_kept(self) -> bool:
        """Whether the code is all that was made: weights may be in a file of their own."""
        return self.weights is None or self.weights.output is None


# A child of this process, and the pages that both copy from then on, take longer than LLVM does for
# PTX of so many bytes of bitcode.
_SMALL_BITCODE = 1 << 14

_shared = SharedSession()


def compile_code(source: Source, options: Options) -> Compiled:
    """Compiles one source, as one thread at a time may. Raises HircError."""
    with _shared.lend(len(source.data)) as session:
        return CodeCompilation(options, given={source.name: source}, session=session).compile()


@dataclass
class CodeCompilation(Compilation):
    """Compiles one source to code, as a shared library would have it."""

    session: Session = field(default_factory=Session)
    # What gives each chip's code, once the rest is done.
    _images: list[Callable[[], DeviceCode]] = field(
        default_factory=list[Callable[[], DeviceCode]], init=False
    )
    _children: list[tuple[Target, Child]] = field(
        default_factory=list[tuple[Target, Child]], init=False
    )
    _embedded: list[tuple[Target, ImageFormat, bytes]] = field(
        default_factory=list[tuple[Target, ImageFormat, bytes]], init=False
    )
    # Each has started already, and waits for PTX.
    _assemblers: dict[Target, Callable[[str], Callable[[], bytes]]] = field(
        default_factory=dict[Target, Callable[[str], Callable[[], bytes]]], init=False
    )
    _open: ExitStack = field(default_factory=ExitStack, init=False)

    @cached_property
    def cuda(self) -> Cuda:
        return find_cuda(self.options.cuda_path, optional=LINKING_PARTS)

    @seldom_collected()
    def compile(self) -> Compiled:
        """Compiles the one input. Raises HircError."""
        self.begin()
        try:
            check_options(self.options, self.given)
            with self._open:
                return self._compile()
        finally:
            self.close()

    def _compile(self) -> Compiled:
        (path,) = self.options.inputs
        source = self.given[path]
        if not source.is_made and not activity.is_watched():
            refuse_unreadable(source, self.session)
        unit = self._parsed(path)
        weights = self._plan_weights([unit], self.options.output or "program.so")
        self._name_kernels([unit])
        self._lower(unit)
        devices = unit.devices if unit.has_kernels else self._devices()
        is_for_cpu = devices == Devices.CPU
        entries = tuple(
            Entry(entry.device_name, entry.host, entry.size, entry.kind == EntryKind.CONSTANT)
            for entry in entries_of(unit.module.operation)
        )
        device = (
            unit.cpu_source(self.cpu_library(unit)) if is_for_cpu and unit.has_device_code else None
        )
        modules = [self._host_with(unit, None)]
        bitcode = modules[0].bitcode()
        self._begin_assembling()
        if device is not None:
            modules.append(
                device.module(
                    self.options, self.timer, self.clang, self.runner, for_this_machine=True
                )
            )
        with self.timer.phase("runtime library"):
            cuda = self.cuda if devices == Devices.GPUS else None
            runtime = runtime_library(devices, self.clang, self.runner, cuda)
        with self.timer.phase("host object"):
            code = _code(modules, unit, entries, weights, devices)
        with self.timer.phase("ptxas"):
            images = tuple(finish() for finish in self._images)
        code = replace(code, images=images, runtime=runtime.name)
        return Compiled(code, runtime.data, weights, bitcode, device)

    def _lower(self, unit: Unit) -> None:
        """Lowers the unit; ptxas has its device code by the time that the host's is lowered."""
        for target in unit.machine_targets if unit.has_device_code else ():
            if not target.is_amd and self.cuda.ptxas.is_file():
                assembler = assembling(target, self.options, self.cuda, self.runner)
                self._assemblers[target] = self._open.enter_context(assembler)
        unit.lower_device()
        self._embedded = super()._device_images(unit) if unit.has_device_code else []
        super()._lower(unit)

    def _device_images(self, unit: Unit) -> list[tuple[Target, ImageFormat, bytes]]:
        return self._embedded

    def _begin_assembling(self) -> None:
        """Has ptxas take the PTX that children of this process generate, of larger device code."""
        for target, child in self._children:
            with self.timer.phase("PTX"):
                ptx = finish_ptx(child)
            self._assemble(target, ptx)

    def _session(self, source: Source) -> Session:
        return self.session

    def _image(self, unit: Unit, target: Target) -> tuple[ImageFormat, bytes]:
        """The device code that a link takes; the code that is run comes of the same module."""
        module = unit.device(target, self.library(target))
        if target.is_amd:
            with self.timer.phase("AMDGPU code"):
                code = code_object(module, self.clang, self.runner)
            self._images.append(partial(DeviceCode, target.arch, code))
            return self._linked_image(module, target)
        if unit.is_refusable or len(module.bitcode()) > _SMALL_BITCODE:
            self._children.append((target, self._open.enter_context(begin_ptx(module))))
        else:
            with self.timer.phase("PTX"):
                self._assemble(target, module.assembly())
        return self._linked_image(module, target)

    def _assemble(self, target: Target, ptx: str) -> None:
        """Has ptxas take PTX, where there is one; without it the driver will."""
        if target not in self._assemblers:
            self._images.append(partial(DeviceCode, target.arch, ptx.encode(), is_ptx=True))
            return
        finish = self._assemblers[target](ptx)
        self._images.append(lambda: DeviceCode(target.arch, finish()))


def _code(
    modules: Sequence[LlvmModule],
    unit: Unit,
    entries: Sequence[Entry],
    weights: Weights | None,
    devices: Devices,
) -> Code:
    """Returns what is made of the host's module and, if there is one, of the CPU device's."""
    sections: dict[str, tuple[str, ...]] = {}
    for module in modules:
        for section, names in module.names_in([LISTED, KERNELS, VARIABLES]).items():
            sections[section] = (*sections.get(section, ()), *names)
    visible = {entry.host for entry in entries}.union(*sections.values())
    for module in modules:
        module.make_visible(visible)
    layout = weights.layout if weights is not None and weights.layout.is_embedded else None
    places = (
        [(layout.offsets[weight.name], weight.name) for weight, _ in weights.values]
        if layout and weights
        else []
    )
    return Code(
        # What runs once a call at most is compiled for longer than it runs. A library that is saved
        # has it optimised.
        objects=tuple(
            host_object(module, is_refusable=unit.is_refusable, quickly=module.is_straight)
            for module in modules
        ),
        devices=devices,
        entries=tuple(entries),
        sections=sections,
        weights=layout.data_symbol if layout is not None else "",
        weight_bytes=layout.bytes if layout is not None else 0,
        weight_places=tuple(places),
    )


class CodeLink(Compilation):
    """Links code that was compiled before."""

    def link(self, compiled: Compiled, output: Path) -> None:
        """Makes a shared library of code. Raises HircError."""
        self.begin()
        try:
            with scratch_folder() as folder:
                host = LlvmModule(
                    compiled.bitcode, host_machine(self.options.opt_level), name="host"
                )
                if compiled.device is not None:
                    host.link_module(
                        compiled.device.module(self.options, self.timer, self.clang, self.runner)
                    )
                weights = compiled.weights
                if weights is not None and weights.layout.file:
                    beside = file_beside(output.absolute(), self.options.emit)
                    host.link_module(_file_name(weights.layout.file_symbol, beside, host))
                    weights = replace(weights, output=beside if weights.output else None)
                path = folder / "host.o"
                path.write_bytes(host_object(host))
                self._link_objects([path], weights, output, folder, compiled.code.devices)
        finally:
            self.close()


def _file_name(symbol: str, beside: Path, host: LlvmModule) -> LlvmModule:
    """Returns a module with the name of the file with the weights: code says one of its own, which
    was to be in no folder with another.
    """
    name = (*os.fsencode(beside.name), 0)
    text = "".join(f"\\{byte:02X}" for byte in name)
    variable = f'@{symbol} = hidden constant [{len(name)} x i8] c"{text}", align 8\n'
    return LlvmModule(variable, host.machine, name="weights file")

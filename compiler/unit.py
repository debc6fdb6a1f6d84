"""One translation unit on its way from source to object code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dialects.mlir import ir
from ..dialects.offload import ImageFormat, ImageOp
from ..dialects.records import dataclass
from ..pipelines.convolutions.options import ConvolutionOptions
from ..pipelines.gpu_program import (
    DEVICE_STAGE,
    HOST_STAGE,
    NAMING_STAGE,
    GpuProgramOptions,
    device_stage,
    gpu_program_stages,
)
from ..pipelines.host_ir import (
    FIRST_LOWERING_STAGE,
    FUSION_STAGE,
    INTERFACE_STAGE,
    LAST_ALLOCATING_STAGE,
    PROGRAM,
    SCHEDULING_STAGE,
    HostIrOptions,
    host_ir_stages,
)
from ..pipelines.passed_state import pass_state
from ..pipelines.passes.name_device_symbols import ELSEWHERE, claimed_names
from ..pipelines.passes.run_transform_schedules import is_only_schedules
from ..pipelines.passes.select_host_programs import host_programs
from ..pipelines.pipeline import Stage
from ..pipelines.products.options import KERNEL_MULTIPLICATIONS, MatmulOptions
from ..pipelines.weights import Weight, WeightFault, WeightLayout, declared_weights, has_weights
from .device_code import DeviceOptions, DeviceSource, device_module, device_sources
from .errors import InputError, Position, UnsupportedError
from .host_code import entries_of, host_module, is_refusable
from .llvm_ir import CONSUMER_LLVM, LlvmModule
from .native import native_targets
from .options import (
    Convolutions,
    Emit,
    Float32Products,
    Graphs,
    Options,
    Products,
    Schedules,
    StateStorage,
)
from .output import write
from .parse import parse
from .platform_table import CUDA
from .prefix_map import map_locations, mapped
from .process import Runner
from .program_faults import refuse_faults
from .session import Session, position_of
from .source import Source
from .stages import StageRun
from .target import (
    FIRST_WITH_REDUX,
    Devices,
    Target,
    check_together,
    shared_memory_limit,
    with_cpu_of,
)
from .timing import Timer
from .toolchain import Clang

if TYPE_CHECKING:
    from ..pipelines.program_graph.graph import GraphProgram
    from .c_interface import CProgram


def stages_for(options: Options, unit: str, targets: Sequence[Target] = ()) -> list[Stage]:
    """The stages one translation unit goes through, for the chips it is built for."""
    targets = targets or options.targets
    chips = _chips(targets)
    names = tuple(target.chip for target in chips)
    host = HostIrOptions(
        entry=options.entry,
        executable=options.emit is Emit.EXE,
        chips=names,
        products=_matmul_options(options, chips),
        convolutions=_convolution_options(options, chips),
        fusion_report=options.fusion_report,
        marks_launches=options.emit.is_picture,
        tuned=_is_tuned(options),
        graph_launches=_graph_launches(options, chips),
        overlap_steps=options.overlap_steps,
        overlap_by_peers=options.overlap_by_peers,
    )
    return [*host_ir_stages(host), *gpu_program_stages(_gpu_options(options, unit, targets))]


def _chips(targets: Sequence[Target]) -> list[Target]:
    """Returns what device code is made for: the CPU device runs that of any GPU."""
    gpus = [target for target in targets if not target.is_cpu]
    return gpus or list(targets)


def _families(targets: Sequence[Target]) -> list[tuple[str, ...]]:
    """Returns the chips whose device code is lowered together, each of such groups."""
    found: dict[tuple[str, int], list[str]] = {}
    for target in _chips(targets):
        found.setdefault(target.family, []).append(target.chip)
    return [tuple(chips) for chips in found.values()]


def _gpu_options(options: Options, unit: str, targets: Sequence[Target]) -> GpuProgramOptions:
    chips = _chips(targets)
    of_nvidia = [chip for chip in chips if chip.platform is CUDA]
    return GpuProgramOptions(
        unit=unit,
        entry=options.entry,
        bare_pointers=options.bare_pointers,
        executable=options.emit is not Emit.SHARED,
        entry_required=options.emit is Emit.EXE,
        # The CPU device names lines of the source in its messages.
        debug=options.debug or Devices.CPU in Devices.of(targets),
        fast_math=options.fast_math,
        chips=tuple(target.chip for target in chips),
        lowered_chips=_families(targets)[0] if chips else (),
        max_shared_bytes=min(map(shared_memory_limit, chips), default=0),
        has_redux=all(chip.capability >= FIRST_WITH_REDUX for chip in of_nvidia)
        and bool(of_nvidia),
    )


# On an H200 a graph takes less of the host's time than a launch (docs/results.md).
_LAUNCHES_OF_GRAPHS = 1


def _graph_launches(options: Options, chips: Sequence[Target]) -> int:
    """From how many launches on a program is replayed as a graph; 0 is never."""
    if options.graphs is Graphs.AUTO:
        return _LAUNCHES_OF_GRAPHS if Devices.of(chips) == Devices.GPUS else 0
    return int(options.graphs is Graphs.ALWAYS)


def _is_tuned(options: Options) -> bool:
    if options.schedules is Schedules.AUTO:
        return options.opt_level > 0
    return options.schedules is Schedules.TUNED


def _matmul_options(options: Options, chips: Sequence[Target]) -> MatmulOptions:
    """Of what matrix products are made."""
    products = options.products
    falls_back = products is Products.AUTO
    if falls_back:
        # The CPU device has no library, and runs plain loops the fastest.
        products = Products.LIBRARY if Devices.of(chips) == Devices.GPUS else None
    most = 0 if products is Products.ALWAYS else KERNEL_MULTIPLICATIONS
    return MatmulOptions(
        products in (Products.LIBRARY, Products.ALWAYS),
        options.float32_products is Float32Products.TF32,
        options.fast_math,
        most,
        own=products is Products.OWN,
        falls_back=falls_back,
        splits=options.float32_products is Float32Products.BF16X3,
        transforms=options.float32_products is Float32Products.WINOGRAD,
    )


def _convolution_options(options: Options, chips: Sequence[Target]) -> ConvolutionOptions:
    """What computes convolutions."""
    falls_back = options.convolutions is Convolutions.AUTO
    is_called = options.convolutions is Convolutions.LIBRARY
    if falls_back and Devices.of(chips) == Devices.GPUS and _is_tuned(options):
        # Imported late: what has no kernels does not wait for it.
        from ..pipelines.schedules.device import device_of

        device = device_of([chip.chip for chip in chips])
        is_called = device.tables.convolution_library.is_ever_faster
    return ConvolutionOptions(is_called, falls_back)


@dataclass(frozen=True)
class CpuSource:
    """Optimised device code of a unit, and what of it the host names."""

    code: str
    chip: str
    named: tuple[str, ...]

    def module(
        self,
        options: Options,
        timer: Timer,
        clang: Clang,
        runner: Runner,
        *,
        for_this_machine: bool = False,
    ) -> LlvmModule:
        """Makes code of the host."""
        with timer.phase("CPU device code"):
            # Imported late: what builds for GPUs alone does not wait for it.
            from .cpu_device.build import library_functions
            from .cpu_device.code import CpuDeviceOptions, cpu_device_module

            settings = CpuDeviceOptions(
                opt_level=options.opt_level,
                chip=self.chip,
                host=options.host,
                for_this_machine=for_this_machine,
                debug=options.debug,
                checks=options.checks,
            )
            library = partial(library_functions, clang, runner)
            return cpu_device_module(self.code, self.named, library, settings)


@dataclass
class Unit:
    """A parsed program; the methods take it from stage to stage, in this order."""

    source: Source
    options: Options
    timer: Timer
    session: Session = field(default_factory=Session)

    is_native: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        with self.timer.phase("parse"):
            self.module: ir.Module = parse(self.source, self.session)
        if self.options.prefix_maps:
            map_locations(self.module.operation, self.options.prefix_maps)
        self._refuse_nested_modules()
        self._refuse_faults()
        # Whether LLVM's code generators may refuse what the program says, or libraries of it.
        self.is_refusable = bool(self.options.device_libraries) or is_refusable(
            self.module.operation
        )
        if self.options.state is StateStorage.INPUTS:
            pass_state(self.module.operation)
        self.weights: list[Weight] = self._declared_weights()
        self.targets = self.options.targets or self._attached_targets()
        if not self.targets and self.options.stop_after is None:
            self.targets = native_targets()
            self.is_native = True
        check_together(self.targets)
        self.targets = with_cpu_of(self.targets)
        if self.options.tuning is not None:
            # Imported late: it loads all schedules.
            from .tuning import place_tuning, read_tuning

            place_tuning(self.module.operation, read_tuning(self.options.tuning, self.targets))
        if self.options.checks and self.devices != Devices.CPU:
            raise InputError(
                "--check is for the CPU device, and the program is built for a GPU",
                hint="--offload-arch=cpu",
            )
        # Copies of the gpu.modules that are lowered for other chips than the module's own, and the
        # LLVM IR of each, by what the chips have in common.
        self._copies: dict[tuple[str, int], ir.Module] = {}
        self._sources: dict[tuple[str, int], list[DeviceSource]] = {}
        self._layout: WeightLayout | None = None
        # What was fused, for --fusion-report.
        self.fusion_report: list[str] = []
        # What was decided of kernels, for --schedule-report.
        self.schedule_report: list[str] = []
        # Its host programs, for --emit=graph.
        self._graph: list[GraphProgram] = []
        # Its programs as C sees them, for --emit-header.
        self.programs: list[CProgram] = []
        # Whether it has device code once it is lowered.
        self.has_kernels = False

    def _refuse_nested_modules(self) -> None:
        for op in self.module.body:
            if op.operation.name == "builtin.module" and not is_only_schedules(op.operation):
                raise UnsupportedError(
                    "a module inside the module is not compiled",
                    position=position_of(op.location),
                    stage="parse",
                    hint="give each module as an input of its own",
                )

    def _refuse_faults(self) -> None:
        with self.timer.phase("check"):
            is_executable = self.options.emit is Emit.EXE
            entry = self.options.entry if is_executable else None
            refuse_faults(self.module.operation, entry)

    def _declared_weights(self) -> list[Weight]:
        module, options = self.module.operation, self.options
        try:
            if not has_weights(module):
                return []
            entry = options.entry if options.emit is Emit.EXE else None
            return declared_weights(module, host_programs(module, entry))
        except WeightFault as fault:
            raise InputError(
                fault.message,
                position=position_of(fault.op.location),
                op=fault.op.name,
                stage="parse",
            ) from fault

    def _attached_targets(self) -> tuple[Target, ...]:
        """The chips the program's own #nvvm.target and #rocdl.target
        attributes name, for want of others.
        """
        chips: dict[Target, None] = {}
        for op in self.module.body:
            if op.operation.name == "gpu.module" and "targets" in op.operation.attributes:
                text = str(op.operation.attributes["targets"])
                for chip in re.findall(r'#(?:nvvm|rocdl)\.target<[^>]*chip = "(\w+)"', text):
                    try:
                        chips[Target.parse(chip)] = None
                    except InputError as error:
                        error.position = position_of(op.location)
                        raise
        return tuple(chips)

    def place_weights(self, layout: WeightLayout) -> None:
        """Says where the weights lie; without that, the unit's own are laid out."""
        layout.write(self.module.operation)
        self._layout = layout

    @cached_property
    def _run(self) -> StageRun:
        return StageRun(
            self.module.operation,
            stages_for(self.options, self.source.unit, self.targets),
            self.session,
            self.timer,
            stop_after=self.options.stop_after,
            print_after=self.options.print_ir_after,
            verify_each=self.options.verify_each,
            each=self._after_stage,
        )

    def outline(self) -> None:
        """Runs the MLIR stages until every kernel is one of a gpu.module, and is to be named."""
        self._run.advance(before=NAMING_STAGE)

    @property
    def claimed_names(self) -> list[str]:
        """What is named on the device, or would be with its stub on the host; once outlined."""
        return claimed_names(self.module.operation)

    def keep_names(self, elsewhere: Sequence[str]) -> None:
        """Lets kernels keep their names, but for those that other units claim; once outlined."""
        if self._run.has_ended:
            return
        with self.session.context:
            names = [ir.StringAttr.get(name) for name in elsewhere]
            self.module.operation.attributes[ELSEWHERE] = ir.ArrayAttr.get(names)

    def lower_device(self) -> None:
        """Runs the MLIR stages that are left but the host's own, up to --stop-after."""
        families = _families(self.targets)
        if len(families) > 1:
            self._run.advance(before=DEVICE_STAGE)
            if not self._run.has_ended and self.has_device_code:
                for chips in families[1:]:
                    self._lower_copy(chips)
        self._run.advance(before=HOST_STAGE)

    def lower(self) -> None:
        """Runs the MLIR stages that are left, up to --stop-after."""
        self.lower_device()
        self._run.advance()
        self.has_kernels = self.has_device_code

    def _lower_copy(self, chips: tuple[str, ...]) -> None:
        """Lowers a copy of the gpu.modules for chips of another family."""
        with self.session.context, self.module.operation.location:
            copy = ir.Module.create()
            for op in self.module.body:
                if op.operation.name == "gpu.module":
                    copy.body.append(op.operation.clone())
        options = _gpu_options(self.options, self.source.unit, self.targets)
        StageRun(
            copy.operation,
            [device_stage(options, chips)],
            self.session,
            self.timer,
            verify_each=self.options.verify_each,
        ).advance()
        self._copies[Target(chips[0]).family] = copy

    def graph(self) -> list[GraphProgram]:
        """Returns what the program does on the host and in kernels, for a picture of it."""
        from ..pipelines.program_graph.functions import read_functions

        self._run.advance(before=FIRST_LOWERING_STAGE)
        with self.timer.phase("picture"):
            return [*self._graph, *read_functions(self.module.operation)]

    def _read_graph(self, stage: str) -> None:
        """Reads host programs while their operations stand there, and their kernels when made."""
        from ..pipelines.program_graph.programs import add_kernels, read_programs

        if stage == LAST_ALLOCATING_STAGE:
            self._graph = read_programs(self.module.operation)
        if stage == SCHEDULING_STAGE:
            add_kernels(self._graph, self.module.operation)

    def _after_stage(self, stage: str) -> None:
        if self.options.emit.is_picture:
            self._read_graph(stage)
        if stage == LAST_ALLOCATING_STAGE and self.options.time_report:
            self._remark_on_memory()
        if stage == SCHEDULING_STAGE and self.options.time_report:
            self._remark_on_scratch()
        if stage == INTERFACE_STAGE and not self.options.emit.is_device:
            # Imported late: most compilations do not wait for it.
            from .c_interface import read_programs

            with self.session.context:
                self.programs = read_programs(self.module.operation)
        if stage == SCHEDULING_STAGE and self.options.schedule_report:
            from ..pipelines.schedules.report import schedule_lines

            self.schedule_report += schedule_lines(self.module.operation)
        if stage == FUSION_STAGE and self.options.fusion_report:
            from ..pipelines.fusion.report import take_report

            self.fusion_report += take_report(self.module.operation)
        # Printing takes a while, and is for --save-temps alone.
        if self.options.save_temps is not None:
            self.keep(f"{stage}.mlir", str(self.module))

    def _remark_on_memory(self) -> None:
        """Puts the most memory that each program holds at once into the time report."""
        # These are imported late: most compilations do not wait for them.
        from ..pipelines.hir.memory.peak_memory import peak_memory

        for op in self.module.body:
            if op.operation.name == PROGRAM:
                name = ir.StringAttr(op.operation.attributes["sym_name"]).value
                peak = peak_memory(op.operation)
                self.timer.remarks.append(f"peak memory of @{name}: {peak.text} bytes")

    def _remark_on_scratch(self) -> None:
        """Puts what kernels need beside the programs' buffers into the time report."""
        from ..pipelines.hir.memory.scratch_memory import scratch_memory

        for op in self.module.body:
            scratch = scratch_memory(op.operation) if op.operation.name == PROGRAM else None
            if scratch is not None:
                name = ir.StringAttr(op.operation.attributes["sym_name"]).value
                self.timer.remarks.append(
                    f"scratch memory of @{name}: at most {scratch.text} bytes more"
                )

    def position_of_symbol(self, name: str) -> Position | None:
        """Where the program uses a symbol, or says that there is one; None where it does neither.

        Symbols of the support library come of no line.
        """
        uses: list[ir.Location] = []
        definitions: list[ir.Location] = []

        def visit(op: ir.Operation) -> ir.WalkResult:
            for key, found in (("callee", uses), ("global_name", uses), ("sym_name", definitions)):
                value = op.attributes.get(key, None)
                if isinstance(value, ir.FlatSymbolRefAttr | ir.StringAttr) and value.value == name:
                    found.append(op.location)
            return ir.WalkResult.ADVANCE

        self.module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        places = map(position_of, [*uses, *definitions])
        return next((place for place in places if place is not None), None)

    def keep(self, suffix: str, data: str | bytes) -> None:
        """Writes an intermediate file where --save-temps asked for it."""
        folder = self.options.save_temps
        if folder is None:
            return
        write(str(folder / f"{self.source.stem}.{suffix}"), data)

    @property
    def devices(self) -> Devices:
        """The kinds of devices that it is built for."""
        return Devices.of(self.targets)

    @property
    def gpu_targets(self) -> list[Target]:
        """The GPUs that it is built for."""
        return [target for target in self.targets if not target.is_cpu]

    @property
    def machine_targets(self) -> list[Target]:
        """The GPUs that it has machine code for: a link needs one, so there is one beside PTX."""
        machines = [target for target in self.gpu_targets if not target.is_ptx]
        ptx = [target for target in self.gpu_targets if target.is_ptx]
        if ptx and all(target.is_amd for target in machines):
            machines.insert(0, Target(ptx[0].chip))
        return machines

    @property
    def offered(self) -> dict[str, Position | None]:
        """What its device code defines for other units, and where; once its host code is made."""
        found: dict[str, Position | None] = {}
        for sources in self._sources.values():
            for source in sources:
                found |= source.offered
        return found

    @property
    def has_device_code(self) -> bool:
        return any(op.operation.name == "gpu.module" for op in self.module.body)

    def device(self, target: Target, library: Path, *, optimises: bool = True) -> LlvmModule:
        """The unit's device code for one chip, optimised if asked; `library` is its maker's."""
        options = self.options
        sources = self._sources_for(target)
        keep = [entry.device_name for entry in entries_of(self.module.operation)]
        settings = DeviceOptions(
            opt_level=options.opt_level,
            fast_math=options.fast_math,
            flush_denormals=options.flush_denormals,
            platform_library=library,
            libraries=options.device_libraries,
            rdc=options.rdc,
            speculates=not options.checks,
            optimises=optimises,
        )
        if Devices.CPU in self.devices and not target.is_cpu and not options.debug:
            # Lines are for the CPU device's messages.
            sources = [source.without_lines() for source in sources]
        with self.timer.phase("device code"):
            module = device_module(sources, keep, target, settings)
        if options.save_temps is not None:
            self.keep(f"{target.arch}.ll", module.text())
        return module

    def _sources_for(self, target: Target) -> list[DeviceSource]:
        """The device code as LLVM IR, which chips of a family have in common."""
        family = target.family
        if family not in self._sources:
            module = self._copies.get(family, self.module)
            with self.timer.phase("device translate"):
                self._sources[family] = device_sources(module.operation, target.platform)
            for source in self._sources[family]:
                copied = f".{target.chip}" if family in self._copies else ""
                self.keep(f"{source.name}{copied}.ll", source.text)
        return self._sources[family]

    @property
    def cpu_target(self) -> Target:
        """The CPU device that it is built for."""
        return next(target for target in self.targets if target.is_cpu)

    def cpu_device(self, library: Path, clang: Clang, runner: Runner) -> LlvmModule:
        """The unit's device code as code of the host, optimised."""
        module = self.cpu_source(library).module(self.options, self.timer, clang, runner)
        if self.options.save_temps is not None:
            self.keep("cpu.ll", module.text())
        return module

    def cpu_source(self, library: Path) -> CpuSource:
        """The unit's device code, to make code of the host of; `library` is its maker's."""
        named = tuple(entry.device_name for entry in entries_of(self.module.operation))
        target = self.cpu_target
        return CpuSource(self.device(target, library).text(), target.chip, named)

    def embed(self, images: Sequence[tuple[Target, ImageFormat, bytes]]) -> None:
        """Adds an offload.image for each chip, and drops the gpu.modules."""
        with self.session.context, self.module.operation.location:
            for op in list(self.module.body):
                if op.operation.name == "gpu.module":
                    op.operation.erase()
            for target, form, data in images:
                ImageOp(
                    arch=ir.StringAttr.get(target.arch),
                    triple=ir.StringAttr.get(target.platform.triple),
                    format=ir.StringAttr.get(form),
                    data=ir.DenseElementsAttr.get(memoryview(data).cast("b")),
                    ip=ir.InsertionPoint(self.module.body),
                )

    def _description(self, clang: Clang) -> bytes:
        """Returns what the output says of the unit."""
        from .description import describe_unit

        values = [(program.name, program.inputs, program.outputs) for program in self.programs]
        contents: dict[str, Any] = {
            "programs": [
                {"name": name, "inputs": dict(inputs), "outputs": dict(outputs)}
                for name, inputs, outputs in values
            ],
            "kernels": [entry.device_name for entry in entries_of(self.module.operation)],
            "weights": {weight.name: weight.text for weight in self.weights},
        }
        if self._layout is not None and self._layout.bytes:
            contents["values"] = "embedded" if self._layout.is_embedded else self._layout.file
        versions = {"clang": clang.version, "llvm": str(CONSUMER_LLVM)}
        name = mapped(self.source.name, self.options.prefix_maps)
        return describe_unit(name, self.options, self.targets, versions, contents)

    def host(
        self,
        support: bytes | None,
        clang: Clang,
        device: LlvmModule | None = None,
        *,
        consumer: int,
    ) -> LlvmModule:
        """The unit's host code with its annotations for clang `consumer`, optimised.

        `support` is the support library where the code has it in itself. `device` is code for the
        CPU device, which becomes part of it.
        """
        with self.timer.phase("host code"):
            module = host_module(
                self.module.operation,
                support=support,
                opt_level=self.options.opt_level,
                host=clang.host,
                consumer=consumer,
                description=self._description(clang),
                debug=self.options.debug or Devices.CPU not in self.devices,
            )
        if device is not None:
            module.link_module(device)
        if self.options.save_temps is not None:
            self.keep("host.ll", module.text())
        return module

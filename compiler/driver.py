"""The whole way from programs to files: what `hirc` does, as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..dialects.offload import ImageFormat
from ..dialects.records import dataclass
from ..pipelines.weights import Weight, agreed_weight
from .amd_code import relocatable_object
from .build_tools import BuildTools
from .collection import seldom_collected
from .consumer import check_chips, host_bitcode, host_text, takes_bitcode
from .cuda_folder import write_cuda_for_older_clang
from .device_file import device_file
from .errors import InputError, Position, ToolchainError
from .host_code import host_object
from .link import (
    LinkJob,
    SymbolError,
    link,
    may_do_without_clang,
    merge_objects,
)
from .link_inputs import linked_devices, may_have_kernels, refuse_defined_twice
from .llvm_ir import LlvmModule
from .native import native_note, native_targets
from .option_checks import check_options
from .options import Emit
from .output import replacing, scratch_folder, write
from .prefix_map import mapped
from .ptx import emit_ptx, ptxas_arguments
from .session import Session
from .source import UNNAMED, Source, check_readable, is_model, read_source
from .target import Devices, Target
from .unit import Unit
from .weights import Weights, plan_weights

if TYPE_CHECKING:
    from .device_link.images import DeviceLink


@dataclass
class Compilation(BuildTools):
    """One run of the compiler: its options, what it found, and where its time went.

    `given` are inputs that are no files, by the names that the options have for them. With
    `reads_weights_in_place` the program will be told of the file that the options have for weights,
    and none is written where that has all of them.
    """

    sources: dict[str, str] = field(default_factory=dict[str, str])
    given: Mapping[str, Source] = field(default_factory=dict[str, Source])
    reads_weights_in_place: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._units: list[Unit] = []
        # Device code that becomes PTX, of each unit.
        self._for_ptx: dict[Target, list[LlvmModule]] = {}
        self._said_native = False
        # Device code that is linked beside other work.
        self._device_link: DeviceLink | None = None
        self._links_beside = False
        # Of LLVM, that the link of device code runs instead of its own.
        self._link_passes = ""

    @property
    def fusion_report(self) -> list[str]:
        """What was fused, and for what was not, why: lines, where the options ask for them."""
        return [line for unit in self._units for line in unit.fusion_report]

    @property
    def schedule_report(self) -> list[str]:
        """What was decided of each kernel, for --schedule-report."""
        return [line for unit in self._units for line in unit.schedule_report]

    @seldom_collected()
    def run(self) -> None:
        """Compiles every input and writes what was asked for. Raises HircError."""
        self.begin()
        try:
            self._run()
        finally:
            self.close()

    def _run(self) -> None:
        options = self.options
        is_linked = options.emit.is_linked and options.stop_after is None
        if not options.inputs and not (is_linked and options.link_inputs):
            raise InputError("no input files", hint="hirc prog.mlir -o prog --offload-arch=sm_90")
        if is_linked and options.output == "-":
            raise InputError("an executable or library needs a file to go to", hint="-o prog")
        if not is_linked and len(options.inputs) > 1 and options.output is not None:
            raise InputError("-o names one file, and several inputs make several")
        check_options(options, self.given)
        if is_linked:
            self._link_all()
            return
        if options.dry_run:
            # Nothing but a link, and ptxas for a cubin, runs a command.
            return
        if options.cuda_folder is not None:
            write_cuda_for_older_clang(self.cuda, options.cuda_folder)
        for path in options.inputs:
            self._emit_one(path)

    def _write_interface(self, output: Path) -> None:
        """Writes the header of what was built, and its file for pkg-config."""
        options = self.options
        if not options.describes_interface:
            return
        # Imported late: most compilations do not wait for it.
        from .c_interface import header, pkg_config, stem_of

        programs = [program for unit in self._units for program in unit.programs]
        if options.header is not None:
            path = _beside(options.header, output, f"{stem_of(output)}.h")
            write(str(path), header(path, programs))
        if options.pkg_config is not None:
            path = _beside(options.pkg_config, output, f"{stem_of(output)}.pc")
            write(str(path), pkg_config(output, programs))

    def _link_all(self) -> None:
        options = self.options
        for name in options.link_inputs:
            if not name.startswith(("-l", "-L")):
                check_readable(Path(name))
        output = Path(options.output or ("a.so" if options.emit is Emit.SHARED else "a.out"))
        if options.dry_run:
            objects = [Path(f"{Path(name).stem}.o") for name in options.inputs]
            job = LinkJob(objects, output, devices=Devices.of(options.targets or native_targets()))
            link(job, options, self.toolchain(job.devices), self.runner)
            return
        with ExitStack() as stack:
            if options.save_temps is not None:
                folder = options.save_temps.absolute()
            else:
                folder = stack.enter_context(scratch_folder())
            units = [self._parsed(path) for path in options.inputs]
            with suppress(ToolchainError):
                # What is missing is told of where it is needed.
                self._links_beside = self._may_link_beside(units)
                self._link_passes = self._passes_of_link(units)
                self._begin_device_link(units, folder, stack)
            weights = self._plan_weights(units, str(output))
            self._name_kernels(units)
            objects = [self._object(unit, folder) for unit in units]
            if options.rdc:
                refuse_defined_twice(units)
            self._link_objects(objects, weights, output, folder, self._devices())
            self._write_interface(output)

    def _passes_of_link(self, units: Sequence[Unit]) -> str:
        """Returns what optimises the device code where it is linked: beside this process, and by an
        LLVM without assertions, which takes half the time.

        Empty where it is optimised here: a chip of AMD's has another linker, and what is related to
        code of others is optimised again with it.
        """
        options = self.options
        targets = [target for unit in units for target in unit.gpu_targets]
        if options.rdc or options.link_inputs or any(target.is_amd for target in targets):
            return ""
        return f"default<O{options.opt_level}>" if targets and self._links_bitcode() else ""

    def _may_link_beside(self, units: Sequence[Unit]) -> bool:
        """Returns whether the options allow the device code of all units to be linked as soon as it
        is there.
        """
        options = self.options
        targets = [target for unit in units for target in unit.gpu_targets]
        return (
            may_do_without_clang(options)
            and not options.compress
            and not options.debug
            and bool(targets)
            and not any(target.is_amd or target.is_ptx for target in targets)
            and takes_bitcode(self.consumer)
        )

    def _begin_device_link(self, units: Sequence[Unit], folder: Path, stack: ExitStack) -> None:
        if not self._links_beside:
            return
        # Imported late: what is for the CPU device does not wait for it.
        from .device_link.images import DeviceLink

        link = DeviceLink(
            *(folder, len(units), self.clang, self.cuda),
            *(self._link_passes, self.options, self.runner),
        )
        self._device_link = stack.enter_context(link)

    def _device_objects(self, folder: Path) -> list[Path] | None:
        """Objects of the device code, linked; None where clang is to link it."""
        images = None if self._device_link is None else self._device_link.finish()
        if images is None:
            return None
        from .device_link.objects import device_objects

        return device_objects(images, folder, self.clang, self.runner)

    def _link_objects(
        self,
        objects: Sequence[Path],
        weights: Weights | None,
        output: Path,
        folder: Path,
        devices: Devices,
    ) -> None:
        """Links the inputs' objects, and writes what goes beside the output."""
        linked = list(objects)
        if weights is not None and weights.layout.is_embedded:
            linked.append(self._weights_object(weights, folder))
        runtimes, wrapped = self.runtimes(folder, devices)
        linked += runtimes
        support = self.support_archive(folder)
        ptx = self._write_ptx(folder)
        phase = "link"
        if Devices.GPUS in devices:
            phase = "link (clang, ptxas, nvlink, lld)"
        with replacing(output) as temporary:
            with self.timer.phase(phase):
                device = self._device_objects(folder)
                output = temporary.absolute()
                self._link(
                    LinkJob(
                        *(linked, output, folder, support, devices, wrapped, ptx),
                        device=device,
                        passes=self._link_passes,
                    )
                )
            # The output appears after what it needs.
            if weights is not None:
                self._write_weights(weights)

    def _link(self, job: LinkJob) -> None:
        """Links. What is wrong with a symbol is at the line that uses it, else at an input."""
        try:
            link(job, self.options, self.toolchain(job.devices), self.runner)
        except SymbolError as error:
            places = (unit.position_of_symbol(error.symbol) for unit in self._units)
            found = next((place for place in places if place is not None), None)
            inputs = self.options.inputs
            error.position = found or (Position(inputs[0], 1, 1) if len(inputs) == 1 else None)
            raise

    def _devices(self) -> Devices:
        """The devices that what is linked runs on. Reads the link inputs."""
        options = self.options
        asked: Devices | None = None
        kinds = {unit.devices for unit in self._units if unit.has_kernels}
        if options.targets:
            asked = Devices.of(options.targets)
        elif len(kinds) > 1:
            raise InputError(
                "some inputs are for the CPU device and some for GPUs",
                hint="name the chips with --offload-arch",
            )
        elif kinds:
            asked = next(iter(kinds))
        linked = linked_devices(options.link_inputs, asked)
        if linked and any(target.is_ptx for target in options.targets):
            raise InputError(
                "PTX is made of hirc's own inputs, and what is linked with them has device code",
                hint="leave compute_ out of --offload-arch, or give hirc the sources",
            )
        return asked or linked or Devices.of(native_targets())

    def _write_ptx(self, folder: Path) -> dict[Target, Path]:
        """The PTX that goes into the linked file, of all units together."""
        written: dict[Target, Path] = {}
        for target, (whole, *others) in self._for_ptx.items():
            for other in others:
                whole.link_module(other)
            missing = [
                name
                for name in whole.undefined_functions()
                if name not in target.platform.runtime_functions
            ]
            if missing:
                raise InputError(
                    f"device function '{missing[0]}' is called and defined nowhere",
                    stage="device-code",
                    hint="PTX is made of hirc's own inputs: give hirc the unit that defines it",
                )
            written[target] = folder / f"{target.arch}.ptx"
            with self.timer.phase("PTX"):
                written[target].write_text(emit_ptx(whole))
        return written

    def _plan_weights(self, units: Sequence[Unit], output: str) -> Weights | None:
        """Decides where the weights of all inputs lie and go, and tells the inputs."""
        declared: dict[str, Weight] = {}
        for unit in units:
            for weight in unit.weights:
                other = declared.get(weight.name, weight)
                agreed = agreed_weight(weight, other)
                if agreed is None:
                    raise InputError(
                        f"weight '{weight.name}' is {weight.text} in {unit.source.name}, and "
                        f"{other.text} in another input: weights of one name are one"
                    )
                declared[weight.name] = agreed
        with self.timer.phase("weights"):
            known = [unit.source.weights for unit in units if unit.source.weights is not None]
            weights = plan_weights(
                list(declared.values()),
                self.options,
                output,
                known,
                in_place=self.reads_weights_in_place,
            )
        for unit in units if weights is not None else ():
            assert weights is not None
            unit.place_weights(weights.layout)
        return weights

    def _weights_object(self, weights: Weights, folder: Path) -> Path:
        path = folder / "weights.o"
        with self.timer.phase("weights"):
            weights.write_object(path, self.options.host)
        return path

    def _write_weights(self, weights: Weights) -> None:
        with self.timer.phase("weights"):
            weights.write_file()

    def _name_kernels(self, units: Sequence[Unit]) -> None:
        """Takes each input to its kernels; of a whole program, the unique ones keep their names."""
        for unit in units:
            unit.outline()
        if not self.options.is_whole_program or may_have_kernels(self.options.link_inputs):
            return
        claimed = [set(unit.claimed_names) for unit in units]
        for place, unit in enumerate(units):
            others = claimed[:place] + claimed[place + 1 :]
            unit.keep_names(sorted(set[str]().union(*others)))

    def _object(self, unit: Unit, folder: Path) -> Path:
        """Compiles one input to an object file in `folder`."""
        self._lower(unit)
        host = self._host(unit)
        output = folder / f"{unit.source.stem}.{unit.source.unit}.o"
        with self.timer.phase("host object"):
            output.write_bytes(host_object(host, is_refusable=unit.is_refusable))
        return output

    def _emit_one(self, path: str) -> None:
        unit = self._parsed(path)
        options, emit = self.options, self.options.emit
        output = self._output(unit, emit.suffix)
        if emit.is_picture and options.stop_after is None:
            # Imported late: most compilations do not wait for it.
            from .program_page import picture

            programs = unit.graph()
            with self.timer.phase("picture"):
                self._write(unit, picture(programs, unit.source, emit), emit.suffix)
            return
        is_host = emit.is_host and options.stop_after is None
        weights = self._plan_weights([unit], output) if is_host else None
        self._name_kernels([unit])
        self._lower(unit)
        if options.stop_after is not None:
            self._write(unit, str(unit.module) + "\n", ".mlir")
        elif emit is Emit.MLIR:
            self._embed(unit)
            self._write(unit, str(unit.module) + "\n", emit.suffix)
        elif emit.is_device:
            self._write(unit, device_file(unit, self), emit.suffix)
        else:
            host = self._host(unit)
            with self.timer.phase("host object" if emit is Emit.OBJECT else "host output"):
                data = self._host_output(host)
            if weights is not None and weights.layout.is_embedded:
                data = self._with_weights(data, weights)
            beside = None if weights is None else partial(self._write_weights, weights)
            write(output, data, beside=beside)
            self._write_interface(Path(output))

    def _with_weights(self, data: str | bytes, weights: Weights) -> bytes:
        """An object file and the object with the weights as one."""
        assert isinstance(data, bytes)
        with scratch_folder() as folder:
            code, output = folder / "host.o", folder / "whole.o"
            code.write_bytes(data)
            objects = [code, self._weights_object(weights, folder)]
            with self.timer.phase("weights"):
                merge_objects(objects, output, self.clang, self.runner)
            return output.read_bytes()

    def _parsed(self, path: str) -> Unit:
        source = self.given.get(path) or self._read(path)
        if source.text is not None:
            # Under the name that it came by, and under that which its locations get.
            for name in (source.name, mapped(source.name, self.options.prefix_maps), UNNAMED):
                self.sources[name] = source.text
        unit = Unit(source, self.options, self.timer, self._session(source))
        self._units.append(unit)
        return unit

    def _session(self, source: Source) -> Session:
        """The session that compiles a source."""
        return Session()

    def _lower(self, unit: Unit) -> None:
        unit.lower()
        if unit.is_native and unit.devices == Devices.CPU and unit.has_device_code:
            self._say_native()

    def _say_native(self) -> None:
        """Says, once, that what is built is not for a GPU."""
        if not self._said_native:
            self._said_native = True
            self.runner.log(native_note())

    def _read(self, path: str) -> Source:
        if not is_model(path):
            return read_source(path, sharding=self.options.sharding)
        with self.timer.phase("import"):
            return read_source(path, self.options.entry, self.options.sharding)

    def _embed(self, unit: Unit) -> None:
        images = self._device_images(unit) if unit.has_device_code else []
        if self._device_link is not None:
            self._device_link.add((target.arch, data) for target, _, data in images)
        unit.embed(images)

    def _device_images(self, unit: Unit) -> list[tuple[Target, ImageFormat, bytes]]:
        """The device code that is embedded, and what becomes PTX."""
        for target in unit.gpu_targets:
            if target.is_ptx:
                self._for_ptx.setdefault(target, []).append(
                    unit.device(target, self.library(target))
                )
        check_chips(unit.machine_targets, self.consumer)
        return [(target, *self._image(unit, target)) for target in unit.machine_targets]

    def _image(self, unit: Unit, target: Target) -> tuple[ImageFormat, bytes]:
        """The device code that is embedded for one chip."""
        library = self.library(target)
        module = unit.device(target, library, optimises=not self._link_passes)
        return self._linked_image(module, target)

    def _linked_image(self, module: LlvmModule, target: Target) -> tuple[ImageFormat, bytes]:
        """Device code as a link takes it."""
        if target.is_amd:
            if takes_bitcode(self.consumer):
                return ImageFormat.BITCODE, module.bitcode()
            with self.timer.phase("AMDGPU code"):
                return ImageFormat.OBJECT, relocatable_object(module, self.clang, self.runner)
        if self._links_bitcode():
            return ImageFormat.BITCODE, module.bitcode()
        # clang's device link keeps line tables only in unoptimised code, and hands ptxas no
        # arguments, so ptxas runs here; and an older clang reads no bitcode of hirc's LLVM.
        return ImageFormat.CUBIN, self.cubin(emit_ptx(module), target, relocatable=True)

    def _links_bitcode(self) -> bool:
        """Returns whether device code for NVIDIA's GPUs is linked as bitcode."""
        has_arguments = bool(ptxas_arguments(self.options)) and not self._links_beside
        runs_ptxas = self.options.debug or has_arguments
        return not runs_ptxas and takes_bitcode(self.consumer)

    def _host(self, unit: Unit) -> LlvmModule:
        device = None
        if Devices.CPU in unit.devices and unit.has_device_code:
            device = unit.cpu_device(self.cpu_library(unit), self.clang, self.runner)
        return self._host_with(unit, device)

    def _host_with(self, unit: Unit, device: LlvmModule | None) -> LlvmModule:
        """Host code, which code for the CPU device becomes part of."""
        self._embed(unit)
        support = self.support_inside(unit) if not self.options.emit.is_linked else None
        return unit.host(support, self.clang, device, consumer=self.consumer)

    def _host_output(self, module: LlvmModule) -> str | bytes:
        if self.options.emit is Emit.LLVM:
            return host_text(module, self.consumer)
        if self.options.emit is Emit.BITCODE:
            return host_bitcode(module, self.consumer, self.runner)
        return host_object(module)

    def _output(self, unit: Unit, suffix: str) -> str:
        from_stdin = unit.source.stem == "stdin"
        default = "-" if from_stdin or suffix == ".mlir" else f"{unit.source.stem}{suffix}"
        return self.options.output or default

    def _write(self, unit: Unit, data: str | bytes, suffix: str) -> None:
        write(self._output(unit, suffix), data)


def _beside(asked: Path, output: Path, name: str) -> Path:
    """The file that was asked for: that of a name beside the output where none was named."""
    return asked if asked != Path() else output.parent / name

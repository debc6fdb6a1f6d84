"""What a build runs and links, found when it is first asked for."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from pathlib import Path

from ..dialects.records import dataclass
from .options import Options
from .platform_table import HIP
from .process import Runner
from .ptx import assemble
from .support_library import support_archive, support_bitcode
from .target import Devices, Target
from .timing import Timer
from .toolchain import (
    STATIC_RUNTIME,
    Clang,
    ClangSearch,
    Cuda,
    Toolchain,
    find_cuda,
    find_rocm,
)
from .unit import Unit


@dataclass
class BuildTools:
    """The tools and libraries of one run of the compiler, for its options."""

    options: Options
    timer: Timer = field(default_factory=Timer)

    def __post_init__(self) -> None:
        self.runner = Runner(self.options.verbose, self.options.dry_run)

    def begin(self) -> None:
        """Looks for clang, which has to be run for its version: that goes on while programs are
        lowered.
        """
        self._search = ClangSearch(self.options.clang)

    def close(self) -> None:
        """Gives up what is still under way."""
        self._search.close()

    @cached_property
    def cuda(self) -> Cuda:
        """The CUDA in use. Raises ToolchainError where there is none."""
        options = self.options
        # Another host's runtime is seldom at hand, and for links of what is for GPUs alone.
        links = options.emit.is_linked and Devices.GPUS in Devices.of(options.targets)
        optional = () if options.host.is_native or links else (STATIC_RUNTIME,)
        return find_cuda(options.cuda_path, optional=optional, host=options.host)

    def library(self, target: Target) -> Path:
        """The device library of a chip's maker. Raises ToolchainError where there is none."""
        is_rocm = target.platform is HIP
        return find_rocm(self.options.rocm_path) if is_rocm else self.cuda.libdevice

    def cpu_library(self, unit: Unit) -> Path:
        """The device library of the chip that the CPU device stands for."""
        return self.library(unit.cpu_target)

    @cached_property
    def clang(self) -> Clang:
        """The clang in use. Raises ToolchainError where there is none."""
        return replace(self._search.result(), host=self.options.host)

    @property
    def consumer(self) -> int:
        """The major version of the clang that links what is made."""
        return self.options.for_clang or self.clang.major

    def toolchain(self, devices: Devices) -> Toolchain:
        """Returns what links for these devices. Raises ToolchainError where it is missing."""
        with self.timer.phase("find tools"):
            return Toolchain(self.clang, self.cuda if Devices.GPUS in devices else None)

    def support_archive(self, folder: Path) -> Path:
        output = folder / "hirc-support.a"
        with self.timer.phase("support library"):
            output.write_bytes(support_archive(self.clang, self.runner))
        return output

    def runtimes(self, folder: Path, devices: Devices) -> tuple[list[Path], tuple[str, ...]]:
        """hirc's own object files in CUDA's place, and the functions that a link wraps where the
        file chooses between devices.
        """
        if devices == Devices.GPUS:
            return [], ()
        with self.timer.phase("device runtimes"):
            # Imported late: what is for NVIDIA's GPUs alone does not wait for it.
            from .device_choice.build import device_runtimes

            cuda = self.cuda if Devices.GPUS in devices else None
            made = device_runtimes(devices, self.clang, self.runner, cuda)
        paths = [folder / f"{name}.o" for name in made.objects]
        for path, data in zip(paths, made.objects.values(), strict=True):
            path.write_bytes(data)
        return paths, made.wrapped

    def support_inside(self, unit: Unit) -> bytes:
        """The support library for host code that others link; for AMD's with what calls HIP."""
        with self.timer.phase("support library"):
            support = support_bitcode(self.clang, self.runner)
            if Devices.AMD not in unit.devices:
                return support
            from .hip.build import with_hip_calls

            return with_hip_calls(support, self.clang, self.runner)

    def cubin(self, ptx: str, target: Target, *, relocatable: bool) -> bytes:
        with self.timer.phase("ptxas"):
            return assemble(
                ptx, target, self.options, self.cuda, self.runner, relocatable=relocatable
            )

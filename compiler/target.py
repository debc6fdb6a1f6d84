"""The chips device code is made for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Flag

from ..dialects.records import dataclass
from ..pipelines.schedules.device import AMD_DEVICES, lanes_of, shared_bytes_of
from .errors import InputError
from .platform_table import Platform, platform_of

# Chips LLVM 22 generates code for and CUDA 13's ptxas assembles, without the a and f variants.
# An `a` variant has the instructions of that chip alone (wgmma on sm_90a), an `f` its family's.
CHIPS = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
_FIRST_WITH_A = 90
_FIRST_WITH_F = 100

_CPU = "cpu"
_CPU_PREFIX = "cpu:"
_PTX_PREFIX = "compute_"
# Of the chips whose instructions the CPU device runs, the one with the most.
_CPU_STANDS_FOR = "sm_90a"

# The first capability with redux.sync (PTX ISA, integer warp reductions).
FIRST_WITH_REDUX = 80


def with_all_instructions(chip: str) -> str:
    """Returns the variant of a chip with instructions of that chip alone, if there is one."""
    return f"{chip}a" if int(chip.removeprefix("sm_")) >= _FIRST_WITH_A else chip


@dataclass(frozen=True, order=True)
class Target:
    """One chip, by the name `--offload-arch` takes: `sm_90`, `sm_90a`, `sm_100f`, AMD's
    `gfx90a`; or `cpu`, and `cpu:gfx90a` for the CPU device that runs that chip's device code.

    `compute_90` is PTX for that chip, which the driver compiles for it and for later ones.
    """

    arch: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Checks an arch's spelling. Raises InputError that lists the known ones."""
        if text == _CPU or text.removeprefix(_CPU_PREFIX) in AMD_DEVICES:
            return cls(text)
        match = re.fullmatch(r"(?:sm|compute)_(\d+)([af]?)", text)
        if match is not None:
            number, variant = int(match[1]), match[2]
            first = {"": 0, "a": _FIRST_WITH_A, "f": _FIRST_WITH_F}[variant]
            if number in CHIPS and number >= first:
                return cls(text)
        known = ", ".join([*(f"sm_{chip}" for chip in CHIPS), *AMD_DEVICES])
        raise InputError(
            f"unknown offload arch '{text}'",
            hint=f"known are {known}; with a suffix 'a' from sm_{_FIRST_WITH_A} on, 'f' from "
            f"sm_{_FIRST_WITH_F} on; 'compute_90' is PTX for sm_90 and later chips, 'native' takes "
            "this machine's, 'cpu' is the CPU device, which runs "
            "AMD's device code as 'cpu:gfx90a'",
        )

    @property
    def is_cpu(self) -> bool:
        """Whether it is the CPU device, which runs device code on the host's processor."""
        return self.arch == _CPU or self.arch.startswith(_CPU_PREFIX)

    @property
    def is_amd(self) -> bool:
        """Whether it is a GPU of AMD's."""
        return self.arch in AMD_DEVICES

    @property
    def platform(self) -> Platform:
        """Whose GPU it is, or the CPU device stands for."""
        return platform_of(self.chip)

    @property
    def is_ptx(self) -> bool:
        """Whether it is PTX that the driver compiles, and no machine code."""
        return self.arch.startswith(_PTX_PREFIX)

    @property
    def chip(self) -> str:
        """The GPU whose device code is made: the arch itself, or what the CPU device stands for."""
        if self.is_cpu:
            return self.arch.removeprefix(_CPU_PREFIX) if self.arch != _CPU else _CPU_STANDS_FOR
        return self.arch.replace(_PTX_PREFIX, "sm_")

    @property
    def family(self) -> tuple[str, int]:
        """What chips have in common whose device code is lowered as one: the maker, and how many
        lanes a warp or wavefront has.
        """
        return self.platform.maker, lanes_of([self.chip])

    @property
    def capability(self) -> int:
        """The compute capability as one number: 90 for sm_90a; 0 for a chip of AMD's."""
        return 0 if self.chip in AMD_DEVICES else int(re.sub(r"\D", "", self.chip))

    @property
    def is_exact(self) -> bool:
        """Whether code for it runs on this very chip only (an `a` variant)."""
        return self.arch.endswith("a")


CPU = Target(_CPU)


class Devices(Flag):
    """The kinds of devices that code is for; GPUS are NVIDIA's."""

    CPU = 1
    GPUS = 2
    AMD = 4

    @classmethod
    def of(cls, targets: Iterable[Target]) -> Devices:
        """Returns the kinds that targets are of."""
        devices = cls(0)
        for target in targets:
            devices |= cls.CPU if target.is_cpu else cls.AMD if target.is_amd else cls.GPUS
        return devices

    @property
    def text(self) -> str:
        """The kinds in words."""
        names = {
            Devices.GPUS: "GPUs",
            Devices.AMD: "AMD GPUs",
            Devices.CPU: "the CPU device",
        }
        *first, last = (name for kind, name in names.items() if kind in self)
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def are_several(self) -> bool:
        """Whether a program chooses between them while it runs."""
        return len(self) > 1


def is_several(targets: Sequence[Target]) -> bool:
    """Returns whether a program chooses between code for these while it runs."""
    return Devices.of(targets).are_several or any(target.is_ptx for target in targets)


def shared_memory_limit(target: Target) -> int:
    """Bytes of shared memory one block can be given on `target`."""
    return shared_bytes_of(target.chip)


def check_together(targets: Sequence[Target]) -> None:
    """Raises InputError for chips that one file is not made for."""
    names = ", ".join(target.arch for target in targets)
    stands_in = [target for target in targets if target.is_cpu and target != CPU]
    if stands_in and len(targets) > 1:
        raise InputError(
            f"a file for {stands_in[0].arch} is for nothing else: {names}",
            hint="build a file for each kind",
        )


def with_cpu_of(targets: Sequence[Target]) -> tuple[Target, ...]:
    """Returns the targets, of which the CPU device runs device code that is made for a GPU of
    theirs: AMD's where there are none of NVIDIA's.
    """
    if Devices.of(targets) != Devices.CPU | Devices.AMD:
        return tuple(targets)
    amd = next(target for target in targets if target.is_amd)
    return tuple(
        Target(f"{_CPU_PREFIX}{amd.chip}") if target == CPU else target for target in targets
    )

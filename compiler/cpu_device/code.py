"""Device code of one translation unit, compiled for the host."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache

from ...dialects.records import dataclass
from ...pipelines.schedules.device import lanes_of
from .. import activity
from ..host import NATIVE, Host
from ..ir_text import IrText
from ..llvm_ir import LlvmModule, device_machine, host_features, host_machine
from ..target import CPU
from ..toolchain import takes_wide_vectors
from .inlining import with_stops_inlined
from .retarget import RetargetOptions, retarget

# x86-64 with AVX2 and FMA: every desktop and server processor since about 2015.
_WIDE_CPU = "x86-64-v3"

# The most instructions of a region that -O2 optimises; the time it takes grows faster than they do.
_MOST_OPTIMISED = 60

# What _WIDE_CPU has more than the least processor, by LLVM's names.
_WIDE_FEATURES = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

# Gives those of the functions of these names that it has, as bitcode.
CLibrary = Callable[[Sequence[str]], bytes]


@dataclass(frozen=True)
class CpuDeviceOptions:
    """What changes the code besides the device code it is made of.

    Code that is `for_this_machine` is made for its processor alone.
    """

    opt_level: int = 2
    # Whose device code it is.
    chip: str = CPU.chip
    for_this_machine: bool = False
    host: Host = NATIVE
    debug: bool = False
    checks: frozenset[str] = frozenset()


def cpu_device_module(
    code: str, named_by_host: Container[str], library: CLibrary, options: CpuDeviceOptions
) -> LlvmModule:
    """Code of the host for the device code `code`, optimised, with what it needs of `library`.

    Raises UnsupportedError for what the CPU device cannot do.
    """
    activity.enter("cpu-device")
    device = with_stops_inlined(IrText.of(code), device_machine(options.chip, options.opt_level))
    machine = host_machine(options.opt_level, options.host.triple)
    # Checks keep loops from being vectorised.
    is_wide = options.opt_level > 1 and not options.checks and machine.triple.startswith("x86_64-")
    if options.for_this_machine:
        is_wide = is_wide and runs_wide_code()
    settings = RetargetOptions(
        debug=options.debug,
        wide_cpu=_WIDE_CPU if is_wide else "",
        only_wide=options.for_this_machine,
        most_optimised=_MOST_OPTIMISED if 0 < options.opt_level < 3 else 0,
        checks=options.checks,
        warp_lanes=lanes_of([options.chip]),
    )
    module = LlvmModule(retarget(device, named_by_host, settings), machine, name="cpu-device")
    module.link_bitcode(library(module.undefined_functions()))
    module.drop_unused()
    module.verify()
    module.optimize()
    return module


def runs_wide_code() -> bool:
    """Returns whether code for this machine is for a processor with wider vectors."""
    return takes_wide_vectors() and _has_wide_vectors()


@cache
def _has_wide_vectors() -> bool:
    features = host_features()
    return all(features.get(name, False) for name in _WIDE_FEATURES)

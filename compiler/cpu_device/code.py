"""Device code of one translation unit, compiled for the host."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from ...dialects.records import dataclass
from .. import activity
from ..ir_text import IrText
from ..llvm_ir import LlvmModule, host_machine
from .inlining import with_stops_inlined
from .retarget import RetargetOptions, retarget

# x86-64 with AVX2 and FMA: every desktop and server processor since about 2015.
_WIDE_CPU = "x86-64-v3"

# The most instructions of a region that -O2 optimises; the time it takes grows faster than they do.
_MOST_OPTIMISED = 60

# Gives those of the functions of these names that it has, as bitcode.
CLibrary = Callable[[Sequence[str]], bytes]


@dataclass(frozen=True)
class CpuDeviceOptions:
    """What changes the code besides the device code it is made of."""

    opt_level: int = 2
    debug: bool = False
    checks: frozenset[str] = frozenset()


def cpu_device_module(
    nvvm: str, named_by_host: Container[str], library: CLibrary, options: CpuDeviceOptions
) -> LlvmModule:
    """Code of the host for the NVVM IR `nvvm`, optimised, with what it needs of `library`.

    Raises UnsupportedError for what the CPU device cannot do.
    """
    activity.enter("cpu-device")
    device = with_stops_inlined(IrText.of(nvvm), options.opt_level)
    machine = host_machine(options.opt_level)
    # Checks keep loops from being vectorised.
    is_wide = options.opt_level > 1 and not options.checks and machine.triple.startswith("x86_64-")
    settings = RetargetOptions(
        debug=options.debug,
        wide_cpu=_WIDE_CPU if is_wide else "",
        most_optimised=_MOST_OPTIMISED if 0 < options.opt_level < 3 else 0,
        checks=options.checks,
    )
    module = LlvmModule(retarget(device, named_by_host, settings), machine, name="cpu-device")
    module.link_bitcode(library(module.undefined_functions()))
    module.drop_unused()
    module.verify()
    module.optimize()
    return module

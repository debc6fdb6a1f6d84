"""Device code as a file by itself: what --emit has besides host code."""

from __future__ import annotations

from .amd_code import assembly, code_object
from .build_tools import BuildTools
from .errors import InputError
from .options import OF_AMD, OF_NVIDIA, Emit
from .ptx import disassemble, emit_ptx
from .unit import Unit


def device_file(unit: Unit, tools: BuildTools) -> str | bytes:
    """Returns the device code of a unit for its one chip, in the form that the options name.

    Raises InputError where the chip has no such form, or there are several.
    """
    options = tools.options
    targets = unit.targets
    if len(targets) != 1:
        raise InputError(
            f"--emit={options.emit} is for one chip; {len(targets)} are named",
            hint="give one --offload-arch",
        )
    target = targets[0]
    if target.is_cpu:
        return _cpu_device_file(unit, tools)
    other = OF_NVIDIA if target.is_amd else OF_AMD
    if options.emit in other:
        hint = "asm or hsaco" if target.is_amd else "ptx, cubin or sass"
        raise InputError(
            f"--emit={options.emit} is not for {target.arch}, a chip of {target.platform.maker}'s",
            hint=f"--emit={hint}",
        )
    module = unit.device(target, tools.library(target))
    if options.emit is Emit.DEVICE_LLVM:
        return module.text()
    if options.emit is Emit.DEVICE_BITCODE:
        return module.bitcode()
    if target.is_amd:
        with tools.timer.phase("AMDGPU code"):
            make = assembly if options.emit is Emit.ASM else code_object
            return make(module, tools.clang, tools.runner)
    with tools.timer.phase("PTX"):
        ptx = emit_ptx(module)
    if options.emit is Emit.PTX:
        return ptx
    cubin = tools.cubin(ptx, target, relocatable=options.rdc)
    if options.emit is Emit.SASS and not options.dry_run:
        return disassemble(cubin, tools.cuda, tools.runner)
    return cubin


def _cpu_device_file(unit: Unit, tools: BuildTools) -> str | bytes:
    """The device code as code of the host: what the CPU device runs."""
    if tools.options.emit not in (Emit.DEVICE_LLVM, Emit.DEVICE_BITCODE):
        raise InputError(
            f"--emit={tools.options.emit} is for a GPU; the CPU device has no such code",
            hint="--emit=device-llvm shows what the CPU device runs",
        )
    module = unit.cpu_device(tools.cpu_library(unit), tools.clang, tools.runner)
    return module.text() if tools.options.emit is Emit.DEVICE_LLVM else module.bitcode()

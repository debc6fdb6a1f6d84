"""Device code: gpu.modules of LLVM's dialects to one optimised NVVM module for a chip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..dialects.mlir import ir
from ..dialects.records import dataclass
from . import activity
from .bitcode_file import read_bitcode
from .diagnostics import translation_error
from .errors import InputError, Position, UnsupportedError
from .gate import GateError, unknown_intrinsics
from .ir_text import IrText, matching, without_line_tables
from .llvm_ir import CONSUMER_LLVM, LlvmModule, Machine, device_machine, set_global_option
from .platform_library import link_platform_library
from .platform_table import CUDA, Platform
from .session import position_of
from .target import Target
from .translate import TranslationError, to_llvm_ir

_LINE_TABLES = "emissionKind: LineTablesOnly"
_SHARED_SPACE = 3
# On these chips a trap is several instructions, and LLVM 22 leaves a second one in a function as
# one that it cannot write.
_ONE_TRAP = "gfx11"
_TRAP = "call void @llvm.trap()"
_TRAP_FUNCTION = """
define internal void @hirc_trap() noinline cold nounwind {
  call void @llvm.trap()
  ret void
}
"""
_FLUSH = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"'


@dataclass(frozen=True)
class DeviceOptions:
    """What changes the device code besides the chip."""

    opt_level: int = 2
    fast_math: bool = False
    flush_denormals: bool = False
    # Where the device library of the chip's maker is.
    platform_library: Path | None = None
    libraries: tuple[Path, ...] = ()
    # Functions and variables may be in other units, and in objects that others compiled.
    rdc: bool = False
    # Loads are those of the source: for code that will be checked.
    speculates: bool = True
    # Whoever links the module optimises it otherwise.
    optimises: bool = True


@dataclass(frozen=True)
class DeviceSource:
    """One gpu.module as LLVM IR text, and where the user's source calls or uses a symbol.

    `offered` are the functions and variables that it defines for other units, and where.
    """

    name: str
    text: str
    calls: dict[str, Position | None]
    offered: dict[str, Position | None]

    def without_lines(self) -> DeviceSource:
        """Returns the same without debug locations of instructions and functions."""
        return replace(self, text=without_line_tables(IrText.of(self.text)).whole())


def device_sources(module: ir.Operation, platform: Platform = CUDA) -> list[DeviceSource]:
    """Translates every gpu.module of `module`, which hold LLVM's dialects only by now."""
    return [
        _translate(child.operation, platform)
        for child in module.regions[0].blocks[0]
        if child.operation.name == "gpu.module"
    ]


def _translate(gpu_module: ir.Operation, platform: Platform) -> DeviceSource:
    name = ir.StringAttr(gpu_module.attributes["sym_name"]).value
    calls: dict[str, Position | None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "llvm.call" and "callee" in op.attributes:
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            calls.setdefault(callee, position_of(op.location))
        if op.name == "llvm.mlir.addressof":
            variable = ir.FlatSymbolRefAttr(op.attributes["global_name"]).value
            calls.setdefault(variable, position_of(op.location))
        return ir.WalkResult.ADVANCE

    gpu_module.walk(visit)
    with gpu_module.context, gpu_module.location:
        holder = ir.Module.create()
        for op in gpu_module.regions[0].blocks[0]:
            holder.body.append(op.operation.clone())
        activity.enter("device-code", "translation to LLVM IR")
        try:
            text = to_llvm_ir(holder.operation, data_layout=_data_layout(platform))
        except (TranslationError, GateError) as error:
            raise translation_error(error, "device-code", holder.operation) from error
    # Line tables in PTX: any more makes the code generator ask ptxas for unoptimised debug code.
    if platform is CUDA and _LINE_TABLES in text:
        text = IrText.of(text).sub(_LINE_TABLES, "emissionKind: DebugDirectivesOnly").whole()
    return DeviceSource(name, text, calls, _offered(gpu_module))


def _offered(gpu_module: ir.Operation) -> dict[str, Position | None]:
    """Returns what a gpu.module defines that is not private, and where; shared memory is nobody
    else's.
    """
    found: dict[str, Position | None] = {}
    for child in gpu_module.regions[0].blocks[0]:
        op = child.operation
        if op.name not in ("llvm.func", "llvm.mlir.global"):
            continue
        attributes = op.attributes
        visibility = attributes.get("sym_visibility", None)
        is_public = visibility is None or ir.StringAttr(visibility).value == "public"
        is_external = str(attributes["linkage"]) == "#llvm.linkage<external>"
        if op.name == "llvm.func":
            is_defined = bool(list(op.regions[0].blocks))
        else:
            has_value = "value" in attributes or bool(list(op.regions[0].blocks))
            space = attributes.get("addr_space", None)
            is_shared = space is not None and ir.IntegerAttr(space).value == _SHARED_SPACE
            is_defined = has_value and not is_shared
        if is_public and is_external and is_defined:
            found[ir.StringAttr(attributes["sym_name"]).value] = position_of(op.location)
    return found


@cache
def _data_layout(platform: Platform) -> str:
    """A platform's data layout, which is one for all chips."""
    return Machine(platform.triple, "", "", 0).data_layout()


def device_module(
    sources: Sequence[DeviceSource], keep: Sequence[str], target: Target, options: DeviceOptions
) -> LlvmModule:
    """Links libraries into each source, optimises for the chip if asked, and merges them into one.

    `keep` are the kernels and variables the host names; the rest becomes internal. Square root
    and division are IEEE's unless `fast_math`. Raises InputError for a function or a variable that
    nobody defines.
    """
    activity.enter("device-code")
    machine = device_machine(target.chip, options.opt_level)
    if target.platform is CUDA:
        precise = "0" if options.fast_math else "1"
        flush = "1" if options.flush_denormals else "0"
        set_global_option(f"-nvvm-reflect-add=__CUDA_PREC_SQRT={precise}")
        set_global_option(f"-nvvm-reflect-add=__CUDA_FTZ={flush}")
    if options.rdc:
        _refuse_twice(sources)
    flags = target.platform.module_flags
    modules = (_one(source, keep, machine, options, target) for source in sources)
    if len(sources) == 1 and target.is_cpu and not flags:
        # A GPU's code goes through bitcode in any case, by which the order of uses is that of the
        # instructions.
        merged = next(modules)
        merged.raw.name = "device"
    else:
        merged = LlvmModule(flags, machine, name="device")
        for module in modules:
            merged.link_module(module)
    merged.verify()
    return merged


def _refuse_twice(sources: Sequence[DeviceSource]) -> None:
    """Raises InputError for what two gpu.modules offer by one name."""
    first: dict[str, str] = {}
    for source in sources:
        for name, position in source.offered.items():
            if name in first:
                raise InputError(
                    f"'{name}' is defined in gpu.module '{first[name]}' and in '{source.name}'",
                    position=position,
                    stage="device-code",
                    hint="--offload-rdc makes them one; make one private, or rename it",
                )
            first[name] = source.name


def _one(
    source: DeviceSource,
    keep: Sequence[str],
    machine: Machine,
    options: DeviceOptions,
    target: Target,
) -> LlvmModule:
    platform = target.platform
    text = source.text
    if target.is_cpu:
        # Imported late: what builds for GPUs alone does not wait for it.
        from .cpu_device.inlining import with_ptx_before_optimising

        text = with_ptx_before_optimising(text)
    module = LlvmModule(text, machine, name=source.name)
    # Threads may have to call any function together. MLIR says so of barriers only; a function with
    # a barrier would be called from copies of a place otherwise. LLVM takes the attribute off where
    # it is not needed.
    module.add_to_definitions("convergent")
    unknown = unknown_intrinsics(module.raw)
    if unknown:
        raise UnsupportedError(
            f"intrinsic '{unknown[0]}' is newer than the LLVM that generates code",
            position=source.calls.get(unknown[0]),
            stage="device-code",
            hint="spell the operation with inline PTX (nvvm.inline_ptx) or a lower-level nvvm op",
        )
    # A library may need one given before it.
    waiting = list(options.libraries)
    while linked := [path for path in waiting if _links(module, path)]:
        waiting = [path for path in waiting if path not in linked]
    if options.platform_library is not None:
        link_platform_library(
            module,
            options.platform_library,
            target,
            fast_math=options.fast_math,
            flush_denormals=options.flush_denormals,
        )
    by_host = platform.host_functions if target.is_cpu else ()
    module.internalize([*keep, *source.offered] if options.rdc else keep)
    module.drop_unused()
    # Of the source there are none.
    unknown = unknown_intrinsics(module.raw) if options.libraries else []
    if unknown:
        raise InputError(
            f"a device library calls '{unknown[0]}', no intrinsic of LLVM {CONSUMER_LLVM}",
            stage="device-code",
            hint="make the library with that LLVM or an older one",
        )
    missing = [
        name
        for name in module.undefined_functions()
        if name not in platform.runtime_functions and not name.startswith(by_host)
    ]
    if options.rdc:
        # Threads may have to call these together too.
        module.add_to_declarations(missing, "convergent")
    if missing and not options.rdc:
        raise InputError(
            f"device function '{missing[0]}' is called in gpu.module '{source.name}' and defined "
            "nowhere",
            position=source.calls.get(missing[0]),
            stage="device-code",
            hint="define it in the gpu.module, or give the bitcode that has it with --device-lib; "
            "--offload-rdc looks for it in other inputs",
        )
    # Kept ones may have their storage in another gpu.module.
    nowhere = [name for name in module.undefined_variables() if name not in keep]
    if nowhere and not options.rdc:
        raise InputError(
            f"device variable '{nowhere[0]}' is used in gpu.module '{source.name}' and defined "
            "nowhere",
            position=source.calls.get(nowhere[0]),
            stage="device-code",
            hint="give it a value in the gpu.module, or `= uninitialized` for memory alone",
        )
    if options.flush_denormals:
        flushing = _with_flushed_denormals(IrText.of(module.text()))
        module = LlvmModule(flushing.whole(), machine, name=source.name)
    if not target.is_cpu and target.chip.startswith(_ONE_TRAP):
        module = LlvmModule(_with_one_trap(module.text()), machine, name=source.name)
    if not options.speculates:
        # The attribute of a thread sanitizer: the optimiser adds no load that the code would not
        # have made. Nothing else comes of it here.
        module.add_to_definitions("sanitize_thread")
    module.verify()
    if options.optimises:
        # A thread's registers hold single numbers, so there is nothing to gain; and the loop
        # vectorizer of LLVM 22 fails an assertion of its own on some loops with this target.
        module.optimize(vectorizes_loops=False)
    else:
        module.answer_reflection()
    return module


def _with_one_trap(text: str) -> str:
    """Moves the trap into a function of its own, which is the only one that has it."""
    ir = IrText.of(text)
    if ir.code.count(_TRAP) < 2:
        return text
    return ir.sub(re.escape(_TRAP), "call void @hirc_trap()").whole() + _TRAP_FUNCTION


def _links(module: LlvmModule, library: Path) -> bool:
    return module.link_library(read_bitcode(library), str(library))


def _with_flushed_denormals(text: IrText) -> IrText:
    """Every definition says that f32 denormals are flushed; equal modes are what inlining needs."""
    grouped = text.sub(r"^(attributes #\d+ = \{)", rf"\1 {_FLUSH}")
    return grouped.sub(r"^define .*$", lambda define: _flushing(define[0]))


def _flushing(define: str) -> str:
    """Returns a function's first line with the attribute, unless it has a group, which says so
    already.
    """
    end = matching(define, define.index("(", define.index("@")))
    rest = define[end:]
    return define if re.search(r" #\d+\b", rest) else f"{define[:end]} {_FLUSH}{rest}"

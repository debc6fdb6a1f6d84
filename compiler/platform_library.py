"""Device libraries of the GPUs' makers: CUDA's libdevice, ROCm's ocml and ockl.

The functions that a program needs are kept in the cache for the next time: reading all of a library
takes longer than all else that is done to a small kernel.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ..pipelines.schedules.device import lanes_of
from .bitcode_file import read_bitcode
from .cache import cached
from .llvm_ir import LlvmModule, Machine, extract_definitions
from .platform_table import CUDA, HIP, Platform
from .target import Target
from .toolchain import ROCM_FILES


def library_functions(library: Path, wanted: Iterable[str], platform: Platform = CUDA) -> bytes:
    """Bitcode that defines the functions `wanted` of a library and what they call.

    Names it does not have are left out. Raises ToolchainError when it cannot be read.
    """
    names = sorted(set(wanted))
    status = library.stat()
    key = f"{library} {status.st_size} {status.st_mtime_ns} {' '.join(names)}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    machine = Machine(platform.triple, "", "", 0)
    return cached(
        f"{library.stem}-{digest}.bc",
        lambda: extract_definitions(read_bitcode(library), names, machine),
    )


def link_platform_library(
    module: LlvmModule, library: Path, target: Target, *, fast_math: bool, flush_denormals: bool
) -> None:
    """Links what `module` needs of its platform's library, which is libdevice's file or the folder
    of ROCm's.
    """
    platform = target.platform
    is_rocm = platform is HIP
    files = [library / name for name in ROCM_FILES] if is_rocm else [library]
    left = platform.host_functions if target.is_cpu else ()
    found = False
    for file in files:
        wanted = [
            name
            for name in module.undefined_functions()
            if name.startswith(platform.library_prefixes) and not name.startswith(left)
        ]
        if wanted:
            found = True
            module.link_bitcode(library_functions(file, wanted, platform))
    if found and is_rocm:
        text = _rocm_constants(target.chip, fast_math=fast_math, flush_denormals=flush_denormals)
        module.link_module(LlvmModule(text, module.machine, name="oclc"))


def _rocm_constants(chip: str, *, fast_math: bool, flush_denormals: bool) -> str:
    """The constants that tell ROCm's libraries what they are compiled for, as LLVM IR.

    ROCm has a bitcode file for each value of each (`oclc_*.bc`); the numbers are those of its
    "ROCm Device Libs" manual. A chip gfx90a is 9010: its generation, and two digits each for the
    rest, which is hexadecimal.
    """
    digits = chip.removeprefix("gfx")
    version = int(digits[:-2]) * 1000 + int(digits[-2], 16) * 100 + int(digits[-1], 16)
    values = {
        "finite_only_opt": ("i8", 0),
        "unsafe_math_opt": ("i8", int(fast_math)),
        "daz_opt": ("i8", int(flush_denormals)),
        "correctly_rounded_sqrt32": ("i8", int(not fast_math)),
        "wavefrontsize64": ("i8", int(lanes_of([chip]) == 64)),
        "ISA_version": ("i32", version),
        "ABI_version": ("i32", 500),
    }
    return "".join(
        f"@__oclc_{name} = linkonce_odr hidden addrspace(4) constant {kind} {value}\n"
        for name, (kind, value) in values.items()
    )

"""What `hirc --doctor` knows: every tool and library a build uses, found or not."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from ..dialects.records import dataclass
from ..pipelines.schedules.device import AMD_DEVICES
from .amd_driver import find_amd_gpus, find_hip_runtime
from .cache import find_cache
from .errors import HircError, ToolchainError
from .nvidia_driver import find_driver
from .options import Options
from .output import scratch_folder
from .platform_table import PTX_VERSION
from .process import Runner
from .target import CPU, Target
from .toolchain import (
    CLANG_HINT,
    CUDA_HINT,
    Clang,
    Cuda,
    cuda_candidates,
    find_clang,
    find_cuda,
    find_rocm,
)

_PYTHON_HINT = "pip install hirc installs it, in a fresh virtual environment if need be"
_HOST_HINT = (
    "on Debian: apt-get install libc6-dev libgcc-12-dev (another release: its libgcc-N-dev)"
)
# The first CUDA whose ptxas takes the PTX that hirc writes: PTX 9.0 came with CUDA 13.0.
_CUDA_OLDEST = f"{PTX_VERSION // 10 + 4}.0"
_VERSION_SECONDS, _LINK_SECONDS, _RUN_SECONDS = 30, 60, 30

_TRIAL_ARCH = "sm_90"
_TRIAL_OUTPUT = "0\n"
_TRIAL = """
func.func @main() {
  %one = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
    gpu.printf "%lld\\n", %tx : index
    gpu.terminator
  }
  return
}
"""


class State(Enum):
    """Whether a build can go on with what was found."""

    FOUND = "found"
    MISSING = "missing"
    NOT_NEEDED = "not needed"


@dataclass(frozen=True)
class Finding:
    """One tool or library: its version and where it is, or what is wrong and how to get it."""

    name: str
    state: State
    version: str = ""
    detail: str = ""
    hint: str = ""


def findings(options: Options) -> Iterator[Finding]:
    """Everything a build needs, then what only running needs, in the order a build meets it."""
    yield Finding("Python", State.FOUND, platform.python_version(), sys.executable)
    yield _bindings()
    yield _llvm()
    clang = yield from _clang(options)
    yield from _cuda(options)
    yield _rocm(options)
    yield _host_link(clang)
    yield _cache()
    yield from _driver()
    yield from _amd_driver()


def _bindings() -> Finding:
    name = "MLIR bindings"
    try:
        from ..dialects.mlir import PRODUCER_LLVM, bindings
    except ImportError as error:
        return Finding(name, State.MISSING, detail=str(error), hint=_PYTHON_HINT)
    folder = Path(bindings.__file__ or "").parent
    detail = f"torch-mlir, LLVM {PRODUCER_LLVM}, at {folder}"
    return Finding(name, State.FOUND, _distribution_version("torch-mlir"), detail)


def _llvm() -> Finding:
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError) as error:
        return Finding("LLVM", State.MISSING, detail=str(error), hint=_PYTHON_HINT)
    version = ".".join(str(part) for part in llvm.llvm_version_info)
    detail = f"llvmlite {_distribution_version('llvmlite')}, at {Path(llvm.__file__).parent}"
    return Finding("LLVM", State.FOUND, version, detail)


def _distribution_version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _clang(options: Options) -> Iterator[Finding]:
    """clang and its tools. The generator's value is the clang, or None."""
    try:
        clang = find_clang(options.clang)
    except ToolchainError as error:
        yield Finding("clang", State.MISSING, detail=error.message, hint=error.hint or CLANG_HINT)
        return None
    yield Finding("clang", State.FOUND, clang.version, str(clang.path))
    for tool in ("clang-linker-wrapper", "clang-nvlink-wrapper", "ld.lld"):
        path = clang.directory / tool
        if path.is_file():
            yield Finding(f"  {tool}", State.FOUND, clang.version, str(path))
        elif tool == "ld.lld":
            detail = "not beside clang; the system's linker is used"
            yield Finding(f"  {tool}", State.NOT_NEEDED, detail=detail, hint=CLANG_HINT)
        else:
            detail = f"not in {clang.directory}"
            yield Finding(f"  {tool}", State.MISSING, detail=detail, hint=CLANG_HINT)
    return clang


def _cuda(options: Options) -> Iterator[Finding]:
    """CUDA and its parts."""
    cuda: Cuda | None = None
    try:
        cuda = find_cuda(options.cuda_path)
        yield Finding("CUDA", State.FOUND, _toolkit_version(cuda), str(cuda.root))
    except ToolchainError as error:
        yield Finding("CUDA", State.MISSING, detail=error.message, hint=error.hint or CUDA_HINT)
    seen = cuda or _partial_cuda(options.cuda_path)
    if seen is not None:
        yield from (_cuda_part(name, path) for name, path in seen.parts().items())


def _partial_cuda(given: Path | None) -> Cuda | None:
    """Returns the first CUDA that has a part at least: what an error about the others is about."""
    roots = [given] if given is not None else cuda_candidates()
    for root in roots:
        cuda = Cuda(root)
        if len(cuda.missing()) < len(cuda.parts()):
            return cuda
    return None


def _toolkit_version(cuda: Cuda) -> str:
    """Returns the version in the CUDA runtime's header, where the header is there."""
    try:
        text = (cuda.root / "include" / "cuda_runtime_api.h").read_text(errors="replace")
    except OSError:
        return ""
    match = re.search(r"#define CUDART_VERSION\s+(\d+)", text)
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" if match else ""


def _cuda_part(name: str, path: Path) -> Finding:
    label = f"  {name}"
    if not path.is_file():
        return Finding(label, State.MISSING, detail=f"not at {path}", hint=CUDA_HINT)
    if path.parent.name != "bin":
        return Finding(label, State.FOUND, detail=str(path))
    try:
        done = Runner().run([path, "--version"], timeout=_VERSION_SECONDS)
    except ToolchainError as error:
        return Finding(label, State.MISSING, detail=error.message, hint=CUDA_HINT)
    match = re.search(r"V(\d+\.\d+\.\d+)", done.output)
    if done.status != 0 or match is None:
        detail = f"{path} does not run: {_first_line(done.errors or done.output)}"
        return Finding(label, State.MISSING, detail=detail, hint=CUDA_HINT)
    if _numbers(match[1]) < _numbers(_CUDA_OLDEST):
        detail = f"{path} is too old: PTX {PTX_VERSION / 10} needs {_CUDA_OLDEST} or newer"
        return Finding(label, State.MISSING, match[1], detail, CUDA_HINT)
    return Finding(label, State.FOUND, match[1], str(path))


def _rocm(options: Options) -> Finding:
    name = "ROCm device libraries"
    try:
        return Finding(name, State.FOUND, detail=str(find_rocm(options.rocm_path)))
    except ToolchainError as error:
        detail = f"{error.message}; only code for AMD's chips needs them"
        return Finding(name, State.NOT_NEEDED, detail=detail, hint=error.hint or "")


def _host_link(clang: Clang | None) -> Finding:
    """Compiles and links a C program, which needs the C library's headers and start files."""
    name = "C library"
    if clang is None:
        return Finding(name, State.MISSING, detail="cannot be tried without clang", hint=CLANG_HINT)
    with scratch_folder() as folder:
        source, output = folder / "empty.c", folder / "empty"
        source.write_text('#include <stdio.h>\nint main(void) { return puts("") < 0; }\n')
        command = [clang.path, source, "-o", output, "-ldl", "-lrt", "-lpthread", "-lm"]
        done = Runner().run(command, timeout=_LINK_SECONDS)
    if done.status != 0:
        return Finding(name, State.MISSING, detail=_first_error(done.errors), hint=_HOST_HINT)
    version = " ".join(platform.libc_ver())
    return Finding(name, State.FOUND, version, "a C program compiles and links")


def trial_builds(options: Options) -> Iterator[Finding]:
    """Builds a small GPU program for a GPU and for the CPU device, and runs the latter.

    That finds what no single check does. To be called when nothing a build needs is missing.
    """
    with scratch_folder() as folder:
        source = folder / "trial.mlir"
        source.write_text(_TRIAL)
        wrong = _try_build(options, Target.parse(_TRIAL_ARCH), source)
        yield wrong or Finding(
            "trial build", State.FOUND, detail=f"a GPU program for {_TRIAL_ARCH} compiles and links"
        )
        wrong = _try_build(options, CPU, source) or _try_run(source.with_suffix(""))
        yield wrong or Finding(
            "CPU device", State.FOUND, detail="the same program for it compiles, links and runs"
        )


def _try_build(options: Options, target: Target, source: Path) -> Finding | None:
    """Returns what is wrong if the program cannot be built."""
    from .driver import Compilation

    trial = Options(
        inputs=(str(source),),
        output=str(source.with_suffix("")),
        targets=(target,),
        cuda_path=options.cuda_path,
        clang=options.clang,
    )
    try:
        Compilation(trial).run()
    except HircError as error:
        detail = "; ".join([error.message, *(note.message for note in error.notes)])
        name = "CPU device" if target.is_cpu else "trial build"
        return Finding(name, State.MISSING, detail=detail, hint=error.hint or "")
    return None


def _try_run(program: Path) -> Finding | None:
    """Returns what is wrong if the program does not run on the CPU device."""
    try:
        done = Runner().run([program], timeout=_RUN_SECONDS)
    except ToolchainError as error:
        return Finding("CPU device", State.MISSING, detail=error.message)
    if done.status == 0 and done.output == _TRIAL_OUTPUT:
        return None
    detail = f"a program for it ends with status {done.status}: {_first_line(done.errors)}"
    return Finding("CPU device", State.MISSING, detail=detail)


def _cache() -> Finding:
    cache = find_cache(make=False)
    hint = "HIRC_CACHE_DIR names one, which nobody else can write to"
    if cache.folder is None:
        detail = f"none, all is made anew each time: {'; '.join(cache.refused)}"
        return Finding("cache", State.NOT_NEEDED, detail=detail, hint=hint)
    if cache.refused:
        detail = f"{'; '.join(cache.refused)}; {cache.folder} is used"
        return Finding("cache", State.NOT_NEEDED, detail=detail, hint=hint)
    made = "" if cache.folder.exists() else " (made when first needed)"
    return Finding("cache", State.FOUND, detail=f"{cache.folder}{made}")


def _driver() -> Iterator[Finding]:
    driver = find_driver()
    if driver is None:
        detail = "none on this machine; only running a program on a GPU needs one"
        yield Finding("NVIDIA driver", State.NOT_NEEDED, detail=detail)
        return
    detail = f"serves programs of CUDA {driver.cuda_version} and older"
    yield Finding("NVIDIA driver", State.FOUND, driver.cuda_version, detail)
    if not driver.gpus:
        yield Finding("  GPU", State.NOT_NEEDED, detail="the driver shows none")
    for gpu in driver.gpus:
        yield Finding("  GPU", State.FOUND, gpu.arch, gpu.name)


def _amd_driver() -> Iterator[Finding]:
    chips = find_amd_gpus()
    runtime = find_hip_runtime()
    if not chips and runtime is None:
        return
    detail = runtime or "libamdhip64 is not found; programs for AMD's GPUs load it when they run"
    hint = "" if runtime is not None else "install ROCm, or name it with HIRC_HIP"
    state = State.FOUND if runtime is not None else State.NOT_NEEDED
    yield Finding("HIP runtime", state, detail=detail, hint=hint)
    for chip in chips:
        known = chip in AMD_DEVICES
        detail = "an AMD GPU" if known else "an AMD GPU that no code is made for"
        yield Finding("  GPU", State.FOUND if known else State.NOT_NEEDED, chip, detail)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if "error" in line]
    return lines[0] if lines else _first_line(text)

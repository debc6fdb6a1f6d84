"""Kernels written in C or NVVM IR, built for the CPU device and launched in a process of their own.

clang makes NVVM IR of the C: `KERNEL` before a function makes it a kernel, `SHARED` puts a variable
into shared memory, and the special registers are clang's builtins.
"""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hirc.compiler import llvm_ir
from hirc.compiler.cpu_device.build import library_functions, runtime_object
from hirc.compiler.cpu_device.code import CpuDeviceOptions, cpu_device_module
from hirc.compiler.llvm_ir import LlvmModule, Machine
from hirc.compiler.platform_table import CUDA, PTX_VERSION
from hirc.compiler.process import Runner
from hirc.compiler.target import CPU
from hirc.compiler.toolchain import Clang, find_clang
from support.scratch import scratch_folder

Array = NDArray[np.generic]
Extent = tuple[int, int, int]

PRELUDE = """\
#define KERNEL __attribute__((nvptx_kernel))
#define SHARED __attribute__((address_space(3)))
#define CONSTANT __attribute__((address_space(4)))
#define NOINLINE __attribute__((noinline))
#define TX ((int)__nvvm_read_ptx_sreg_tid_x())
#define TY ((int)__nvvm_read_ptx_sreg_tid_y())
#define TZ ((int)__nvvm_read_ptx_sreg_tid_z())
#define NX ((int)__nvvm_read_ptx_sreg_ntid_x())
#define NY ((int)__nvvm_read_ptx_sreg_ntid_y())
#define NZ ((int)__nvvm_read_ptx_sreg_ntid_z())
#define BX ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define LANE ((int)__nvvm_read_ptx_sreg_laneid())
#define BARRIER() __syncthreads()
typedef unsigned char u8;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
#line 1
"""


def nvvm_ir(source: str, *, opt_level: int = 2, debug: bool = False) -> str:
    """NVVM IR for C, as clang leaves it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.c"
        path.write_text(PRELUDE + source)
        words = [f"-O{opt_level}", "-Xclang", "-disable-O0-optnone"]
        if debug:
            words.append("-gline-tables-only")
        done = subprocess.run(
            [
                find_clang().path,
                f"--target={CUDA.triple}",
                "-march=sm_90a",
                # Without a CUDA toolkit clang takes the oldest PTX there is.
                *("-Xclang", "-target-feature", "-Xclang", f"+ptx{PTX_VERSION}"),
                *words,
                "-std=gnu17",
                "-w",
                "-S",
                "-emit-llvm",
                "-o",
                "-",
                path,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def device_machine(opt_level: int = 2) -> Machine:
    return llvm_ir.device_machine(CPU.chip, opt_level)


def optimized(nvvm: str, opt_level: int = 2) -> str:
    """The IR as hirc hands it to the CPU device."""
    module = LlvmModule(nvvm, device_machine(opt_level), name="kernels")
    kernels = [
        item.name
        for item in module.raw.functions
        if not item.is_declaration and "ptx_kernel" in str(item).partition("{")[0]
    ]
    module.internalize(kernels)
    module.drop_unused()
    module.optimize()
    return module.text()


@cache
def _clang() -> Clang:
    return find_clang()


def _library(wanted: Sequence[str]) -> bytes:
    return library_functions(_clang(), Runner(), wanted)


@cache
def _shared_objects() -> tuple[Path, Path]:
    folder = scratch_folder("kernels")
    runtime, runner = folder / "runtime.o", folder / "runner.o"
    runtime.write_bytes(runtime_object(find_clang(), Runner()))
    source = Path(__file__).with_name("kernel_runner.c")
    subprocess.run([find_clang().path, "-O1", "-c", source, "-o", runner], check=True)
    return runtime, runner


def host_module(
    source: str,
    *,
    opt_level: int = 2,
    debug: bool = False,
    options: CpuDeviceOptions | None = None,
) -> LlvmModule:
    """The CPU device's code for C, or for NVVM IR."""
    is_ir = re.search(r"^define ", source, re.MULTILINE) is not None
    nvvm = source if is_ir else nvvm_ir(source, opt_level=opt_level, debug=debug)
    chosen = options or CpuDeviceOptions(opt_level=opt_level, debug=debug)
    return cpu_device_module(optimized(nvvm, opt_level), (), _library, chosen)


@dataclass(frozen=True)
class Launch:
    """One launch. Arrays are buffers, numpy scalars and bytes are values."""

    kernel: str
    arguments: Sequence[Array | np.generic | bytes]
    grid: Extent = (1, 1, 1)
    block: Extent = (32, 1, 1)
    shared: int = 0

    def encoded(self) -> bytes:
        name = self.kernel.encode()
        parts = [struct.pack("<I", len(name)), name]
        parts.append(struct.pack("<8I", *self.grid, *self.block, self.shared, len(self.arguments)))
        for argument in self.arguments:
            data = argument if isinstance(argument, bytes) else argument.tobytes()
            is_buffer = isinstance(argument, np.ndarray)
            parts += [struct.pack("<IQ", is_buffer, len(data)), data]
        return b"".join(parts)


@dataclass
class Kernels:
    """An executable with the kernels."""

    path: Path
    output: str = field(default="", init=False)

    def run(self, *launches: Launch, seconds: float = 60) -> list[list[Array]]:
        """What the buffers of each launch hold after it. Fails where a launch fails."""
        done = subprocess.run(
            [self.path],
            input=b"".join(launch.encoded() for launch in launches),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, (done.returncode, done.stderr.decode())
        buffers = [
            [item for item in launch.arguments if isinstance(item, np.ndarray)]
            for launch in launches
        ]
        size = sum(item.nbytes for group in buffers for item in group)
        at = len(done.stdout) - size
        self.output = done.stdout[:at].decode()
        results: list[list[Array]] = []
        for group in buffers:
            results.append([])
            for item in group:
                data = done.stdout[at : at + item.nbytes]
                results[-1].append(np.frombuffer(data, item.dtype).reshape(item.shape))
                at += item.nbytes
        return results


def build(
    source: str,
    folder: Path,
    *,
    opt_level: int = 2,
    debug: bool = False,
    options: CpuDeviceOptions | None = None,
) -> Kernels:
    """Builds kernels given as C or NVVM IR into an executable in `folder`."""
    module = host_module(source, opt_level=opt_level, debug=debug, options=options)
    code, path = folder / "kernels.o", folder / "kernels"
    code.write_bytes(module.object_code())
    subprocess.run(
        [find_clang().path, code, *_shared_objects(), "-o", path, "-pthread", "-lm"], check=True
    )
    return Kernels(path)

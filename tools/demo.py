"""Compiles a network in PyTorch to an executable, runs it beside torch, and draws its kernels.

`python -m hirc.tools.demo`, which `make demo` calls. Needs no GPU: where there is none, what runs
is built for the CPU device, and what a GPU machine would run is built beside it.
"""

from __future__ import annotations

import runpy
import shlex
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from ..compiler.errors import HircError
from ..compiler.executable import LinkedFile, read_linked_file
from ..compiler.native import native_targets
from ..compiler.process import Finished, Runner
from ..compiler.rendering import render
from ..compiler.target import CPU
from .hirc import main as hirc

_ROOT = Path(__file__).resolve().parent.parent
_SOURCE = _ROOT / "examples" / "pytorch" / "net.py"
_BUILT = _ROOT / "build" / "demo"
_ARCH = "sm_90"
_RUN_SECONDS = 60
# Of probabilities in f32.
_TOLERANCE = 1e-6
# What a C program needs on any Linux machine: the C library, and no more.
_C_LIBRARY = ("libc.so.6", "libm.so.6", "ld-linux", "libdl.so.2", "librt.so.1", "libpthread.so.0")


def main() -> int:
    """Runs the demonstration. Returns 0 if it went as it should, else 1."""
    try:
        return 0 if _demonstrate() else 1
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1


def _demonstrate() -> bool:
    _BUILT.mkdir(parents=True, exist_ok=True)
    program, page = _BUILT / "net", _BUILT / "net.html"
    network = runpy.run_path(str(_SOURCE))
    (images,) = network["get_inputs"]()
    print(f"1. A network in PyTorch, {_shown(_SOURCE)}:\n   {network['__doc__']}\n")
    print("2. Compiling it to an executable:")
    if not _compile("-o", _shown(program)):
        return False
    is_for_cpu = native_targets() == (CPU,)
    right = _describe(read_linked_file(program), kernels=not is_for_cpu)
    if is_for_cpu:
        print("   There is no GPU here, so that is for the CPU device. For a machine with one:")
        gpu_program = program.with_name(f"net-{_ARCH}")
        if not _compile("-o", _shown(gpu_program), f"--offload-arch={_ARCH}"):
            return False
        right = _describe(read_linked_file(gpu_program), kernels=True) and right
    print(f"3. Running it on {len(images)} pictures, as torch does:")
    right = _runs_like(program, network["Net"]().eval(), images) and right
    print("4. Drawing its kernels and buffers, for a browser:")
    return _compile("-o", _shown(page), "--emit=graph") and right


def _compile(*words: str) -> bool:
    command = [f"{_shown(_SOURCE)}:Net", *words]
    print(f"   $ hirc {shlex.join(command)}", flush=True)
    began = perf_counter()
    failed = hirc(command) != 0
    print(f"   {'failed' if failed else 'done'} in {perf_counter() - began:.1f} s\n", flush=True)
    return not failed


def _describe(linked: LinkedFile, *, kernels: bool) -> bool:
    """Says what was made. Returns whether it runs on any Linux, and has kernels if it should."""
    code = ", ".join(f"{image.arch} {image.kind}" for image in linked.images)
    if code:
        code = f", with {code} of {linked.entries} kernels"
    needed = ", ".join(linked.needed)
    print(f"   {linked.size / 1024:.0f} KiB{code}; glibc {linked.glibc} or newer, needs {needed}\n")
    foreign = [name for name in linked.needed if not name.startswith(_C_LIBRARY)]
    if foreign:
        print(f"That is wrong: the program also needs {', '.join(foreign)}.")
    is_complete = not kernels or (linked.entries > 0 and bool(linked.images))
    if not is_complete:
        print("That is wrong: its kernels would not be registered.")
    return is_complete and not foreign


def _runs_like(program: Path, module: torch.nn.Module, images: torch.Tensor) -> bool:
    """Runs the program on images, and compares what it gives with what the module does."""
    given, gave = _BUILT / "images.npy", _BUILT / "digits.npy"
    np.save(given, images.numpy())
    gave.unlink(missing_ok=True)
    command = [_shown(program), f"--input={_shown(given)}", f"--output={_shown(gave)}", "--time"]
    print(f"   $ {shlex.join(command)}")
    done = Runner().run([program, *command[1:]], timeout=_RUN_SECONDS)
    for line in (done.output + done.errors).splitlines():
        print(f"   {line}")
    return _agrees(done, gave, module, images)


def _agrees(done: Finished, gave: Path, module: torch.nn.Module, images: torch.Tensor) -> bool:
    if done.status != 0 or not gave.is_file():
        print(f"That is wrong: it ended with status {done.status}.")
        return False
    with torch.no_grad():
        wanted = module(images).numpy()
    got = np.load(gave)
    difference = float(np.abs(got - wanted).max()) if got.shape == wanted.shape else np.inf
    print(f"   {_shown(gave)}: the largest difference from torch's result is {difference:.1e}\n")
    if not difference <= _TOLERANCE:
        print(f"That is wrong: it should be at most {_TOLERANCE:.0e}.")
        return False
    return True


def _shown(path: Path) -> str:
    """Returns a path as a person in the current folder would type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    sys.exit(main())

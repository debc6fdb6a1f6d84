"""Compiles an example program for a GPU, shows what came out, and runs it.

`python -m hirc.tools.demo`, which `make demo` calls. Needs no GPU: where there is none, the program
is built a second time, for the CPU device, and run there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

from ..compiler.driver import Compilation
from ..compiler.errors import HircError
from ..compiler.executable import LinkedFile, read_linked_file
from ..compiler.nvidia_driver import find_driver
from ..compiler.options import Options
from ..compiler.process import Finished, Runner
from ..compiler.rendering import render
from ..compiler.target import CPU, Target

_ROOT = Path(__file__).resolve().parent.parent
_SOURCE = _ROOT / "docs" / "examples" / "saxpy.mlir"
_OUTPUT = _ROOT / "build" / "demo" / "saxpy"
_ARCH = "sm_90"
_RIGHT = "wrong elements: 0"
_RUN_SECONDS = 60
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
    print(f"1. A GPU program in MLIR: {_shown(_SOURCE)}")
    print(f"   ({_first_comment(_SOURCE)})\n")
    print("2. Compiling it, which needs no GPU and no CUDA toolkit:")
    _compile(Target.parse(_ARCH), _OUTPUT)
    linked = read_linked_file(_OUTPUT)
    _describe(linked)
    program = _OUTPUT
    if _has_gpu():
        print("4. Running it on this machine's GPU:")
    else:
        print(f"4. There is no {_ARCH} GPU here, so the same for the CPU device, and running it:")
        program = _OUTPUT.with_name(f"{_OUTPUT.name}-cpu")
        _compile(CPU, program)
    right = _run(program)
    return _self_contained(linked) and _registers(linked) and right


def _has_gpu() -> bool:
    driver = find_driver()
    return driver is not None and any(gpu.arch == _ARCH for gpu in driver.gpus)


def _compile(target: Target, output: Path) -> None:
    source, shown = _shown(_SOURCE), _shown(output)
    print(f"   $ hirc {source} -o {shown} --offload-arch={target.arch}")
    begin = perf_counter()
    output.parent.mkdir(parents=True, exist_ok=True)
    Compilation(Options(inputs=(source,), output=shown, targets=(target,))).run()
    print(f"   done in {perf_counter() - begin:.2f} s\n")


def _run(program: Path) -> bool:
    """Runs the program, shows what it prints, and says whether that is right."""
    print(f"   $ {_shown(program)}")
    done = Runner().run([program], timeout=_RUN_SECONDS)
    for line in (done.output + done.errors).splitlines():
        print(f"   {line}")
    print(f"   exit status {done.status}\n")
    return _is_right(done)


def _describe(linked: LinkedFile) -> None:
    images = ", ".join(f"{image.arch} {image.kind}" for image in linked.images)
    fatbin = linked.section_sizes.get(".nv_fatbin", 0)
    print("3. What came out:")
    print(f"   an ELF executable of {linked.size / 1024:.0f} KiB")
    print(f"   device code   {images or 'none'} ({fatbin} bytes in .nv_fatbin)")
    print(f"   registered    {linked.entries} at start: {', '.join(linked.device_symbols)}")
    print(f"   needs         {', '.join(linked.needed)}")
    where = f"an x86-64 Linux machine with glibc {linked.glibc} or newer and a GPU of that kind"
    print(f"   so it can be copied to {where}\n")


def _self_contained(linked: LinkedFile) -> bool:
    foreign = [name for name in linked.needed if not name.startswith(_C_LIBRARY)]
    if foreign:
        print(f"That is wrong: the program also needs {', '.join(foreign)}.")
    return not foreign


def _registers(linked: LinkedFile) -> bool:
    complete = linked.entries == len(linked.device_symbols) == 1 and bool(linked.images)
    if not complete:
        print("That is wrong: its kernel would not be registered.")
    return complete


def _is_right(done: Finished) -> bool:
    right = done.status == 0 and _RIGHT in done.output
    if not right:
        print("That is wrong: every element should be right, and the exit status 0.")
    return right


def _first_comment(path: Path) -> str:
    return path.read_text().partition("\n")[0].removeprefix("// ").rstrip(".")


def _shown(path: Path) -> str:
    """A path as a person in the current folder would type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    sys.exit(main())

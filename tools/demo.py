"""Compiles an example program for a GPU, shows what came out, and runs it if it can.

`python -m hirc.tools.demo`, which `make demo` calls. Needs no GPU: without a driver the program
ends with an error that says so, and that is what is shown.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

from ..compiler.diagnostics import render
from ..compiler.driver import Compilation
from ..compiler.errors import HircError
from ..compiler.executable import LinkedFile, read_linked_file
from ..compiler.nvidia_driver import find_driver
from ..compiler.options import Options
from ..compiler.process import Finished, Runner
from ..compiler.target import Target

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
    source, output = _shown(_SOURCE), _shown(_OUTPUT)
    print(f"1. A GPU program in MLIR: {source}")
    print(f"   ({_first_comment(_SOURCE)})\n")
    print("2. Compiling it, which needs no GPU and no CUDA toolkit:")
    print(f"   $ hirc {source} -o {output} --offload-arch={_ARCH}")
    begin = perf_counter()
    _OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    targets = (Target.parse(_ARCH),)
    Compilation(Options(inputs=(source,), output=output, targets=targets)).run()
    print(f"   done in {perf_counter() - begin:.2f} s\n")
    linked = read_linked_file(_OUTPUT)
    _describe(linked)
    print("4. Running it:")
    print(f"   $ {output}")
    done = Runner().run([_OUTPUT], timeout=_RUN_SECONDS)
    for line in (done.output + done.errors).splitlines():
        print(f"   {line}")
    print(f"   exit status {done.status}\n")
    return _self_contained(linked) and _registers(linked) and _judge(done)


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


def _judge(done: Finished) -> bool:
    """Says what the program's end means; whether it is what this machine should show."""
    driver = find_driver()
    if driver is not None and any(gpu.arch == _ARCH for gpu in driver.gpus):
        right = done.status == 0 and _RIGHT in done.output
        print("It ran on this machine's GPU." if right else "That is wrong: see above.")
        return right
    right = done.status == 1 and "error: " in done.errors
    if right:
        print(f"There is no {_ARCH} GPU here, and the program says so. On one it prints:")
        print(f"   {_RIGHT}\n   the first eight: ( 1, 3, 5, 7, 9, 11, 13, 15 )")
    else:
        print("That is wrong: without a GPU it should end with an error that says so.")
    return right


def _first_comment(path: Path) -> str:
    return path.read_text().partition("\n")[0].removeprefix("// ").rstrip(".")


def _shown(path: Path) -> str:
    """A path as a person in the current folder would type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    sys.exit(main())

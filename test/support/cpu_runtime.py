"""The CPU device's runtime as objects, which test programs in C are linked with."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hirc.compiler.cpu_device.build import runtime_object
from hirc.compiler.process import Runner
from hirc.compiler.toolchain import find_clang
from support.scratch import scratch_folder

SOURCES = Path(__file__).parents[2] / "compiler" / "cpu_device" / "runtime"
_FLAGS = ("-std=gnu11", "-O2", "-gline-tables-only", "-fPIC", "-fvisibility=hidden", f"-I{SOURCES}")
_WARNINGS = ("-Wall", "-Wextra", "-Werror")


def build(
    source: Path, program: Path, sanitizers: str = "", *, flags: Sequence[str | Path] = ()
) -> None:
    """Builds a program of one source with the runtime, both under the sanitizers named."""
    objects = _objects(sanitizers)
    command = [*_compiler(sanitizers), *flags, source, *objects]
    subprocess.run([*command, "-o", program, "-pthread", "-lm"], check=True)


def _compiler(sanitizers: str) -> list[str | Path]:
    sanitizing = (f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all") if sanitizers else ()
    return [find_clang().path, *_FLAGS, *_WARNINGS, *sanitizing]


@cache
def _objects(sanitizers: str) -> list[Path]:
    """The runtime's objects, compiled once a process; without sanitizers as hirc links it."""
    folder = scratch_folder("runtime")
    if not sanitizers:
        whole = folder / "runtime.o"
        whole.write_bytes(runtime_object(find_clang(), Runner()))
        return [whole]
    sources = sorted(SOURCES.rglob("*.c"))
    subprocess.run([*_compiler(sanitizers), "-c", *sources], check=True, cwd=folder)
    objects = sorted(folder.glob("*.o"))
    assert len(objects) == len(sources)
    return objects

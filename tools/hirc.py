"""hirc: compiles tensor and GPU programs in MLIR to executables, with clang's habits."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

from .start import end, end_by_interrupts

if TYPE_CHECKING:
    from .command import Command


def main(arguments: Sequence[str] | None = None, *, began: float | None = None) -> int:
    """Runs hirc in this process, which `began` then, by `perf_counter()`.

    Returns the exit status: 0; 1 with an error on standard error; 70 with hirc's own.
    """
    from .command import Command

    words = list(sys.argv[1:] if arguments is None else arguments)
    command = Command("hirc", words)
    began = perf_counter() if began is None else began
    return command.guard(lambda: _run(command, began))


def _run(command: Command, began: float) -> int:
    from .hirc_arguments import Action, parse_arguments

    request = parse_arguments(command.words)
    # Imported late: MLIR and LLVM take time to load, and --help needs neither.
    if request.action is Action.DOCTOR:
        from .doctor import print_doctor

        return print_doctor(request.options)
    if request.action is Action.PRINT_PIPELINE:
        from ..compiler.unit import stages_for

        print("\n".join(f"// {s.name}\n{s}" for s in stages_for(request.options, "unit")))
        return 0
    if request.action is Action.DESCRIBE:
        from pathlib import Path

        from ..compiler.describe import describe

        for name in request.described:
            found = describe(Path(name))
            if request.as_spdx:
                from ..compiler.sbom import spdx

                print(spdx(found))
            else:
                print(found.json() if request.as_json else found.text())
        return 0
    from ..compiler.driver import Compilation

    compilation = Compilation(request.options, sources=command.sources)
    compilation.timer.begin_at(began)
    compilation.run()
    if request.options.fusion_report:
        print("\n".join(compilation.fusion_report or ["nothing to fuse"]), file=sys.stderr)
    if request.options.schedule_report:
        print("\n".join(compilation.schedule_report or ["no kernels"]), file=sys.stderr)
    if request.options.time_report:
        print(compilation.timer.report(), file=sys.stderr)
    return 0


def run() -> NoReturn:
    """The command: `main` in a child of this process."""
    end_by_interrupts()
    from ..compiler.timing import process_start
    from .command import Command

    began = process_start()
    status, _ = Command("hirc", sys.argv[1:]).watched(lambda: main(began=began))
    end(status)


if __name__ == "__main__":
    run()

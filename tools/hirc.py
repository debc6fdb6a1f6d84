"""hirc: compiles tensor and GPU programs in MLIR to executables, with clang's habits."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from ..compiler.errors import HircError, InternalError
from ..compiler.reproducer import write_reproducer
from .hirc_arguments import Action, parse_arguments

# What shells give a program that Ctrl-C ended.
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs hirc. Returns the exit status: 0, or 1 with an error on standard error."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    sources: dict[str, str] = {}
    try:
        request = parse_arguments(words)
        # Imported late: MLIR and LLVM take time to load, and --help needs neither.
        if request.action is Action.DOCTOR:
            from .doctor import print_doctor

            return print_doctor(request.options)
        if request.action is Action.PRINT_PIPELINE:
            from ..compiler.unit import stages_for

            print("\n".join(f"// {s.name}\n{s}" for s in stages_for(request.options, "unit")))
            return 0
        from ..compiler.driver import Compilation

        compilation = Compilation(request.options)
        sources = compilation.sources
        compilation.run()
        if request.options.fusion_report:
            print("\n".join(compilation.fusion_report or ["nothing to fuse"]), file=sys.stderr)
        if request.options.time_report:
            print(compilation.timer.report(), file=sys.stderr)
    except HircError as error:
        from ..compiler.diagnostics import render

        print(render(error, sources), file=sys.stderr)
        if isinstance(error, InternalError):
            print(f"hirc: to report: {write_reproducer(words, sources)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - our bug, whatever it is: report it in full
        traceback.print_exc()
        print(
            f"hirc: internal error: {error}\nhirc: to report: {write_reproducer(words, sources)}",
            file=sys.stderr,
        )
        return 1
    return 0


def run() -> NoReturn:
    """The command: `main` in a process that does nothing else.

    Collecting cycles and taking the interpreter, MLIR's context and LLVM apart at the end would
    cost a tenth of a small compilation, and give back nothing the exit does not.
    """
    gc.disable()
    # A request to end unwinds, so that no temporary file stays.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        status = main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run()

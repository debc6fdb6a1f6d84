"""hirc-run: compiles a program and runs it, or interprets it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..compiler.errors import HircError, InternalError
from ..compiler.options import Options
from ..compiler.reproducer import write_reproducer
from .hirc_run_arguments import USAGE, RunRequest, parse_run_arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs hirc-run. Becomes the program; returns where that does not come about.

    The exit status is the program's: 1 for a wrong input, 2 for a wrong command line of its own.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    sources: dict[str, str] = {}
    try:
        request = parse_run_arguments(words)
        if request.options is None:
            print(USAGE, end="")
            return 0
        if request.interpret:
            return _interpret(request.options, request.words, sources)
        _compile_and_run(request.options, request, sources)
    except HircError as error:
        from ..compiler.diagnostics import render

        print(render(error, sources), file=sys.stderr)
        if isinstance(error, InternalError):
            print(f"hirc-run: to report: {write_reproducer(words, sources)}", file=sys.stderr)
    return 1


def _compile_and_run(options: Options, request: RunRequest, sources: dict[str, str]) -> None:
    """Puts the executable in the place of this process; it has no name by then."""
    # Imported late: MLIR and LLVM take time to load, and a wrong command line needs neither.
    from ..compiler.driver import Compilation

    with tempfile.TemporaryDirectory(prefix="hirc-run-") as folder:
        program = Path(folder) / "program"
        compilation = Compilation(replace(options, output=str(program)))
        compilation.sources = sources
        compilation.run()
        executable = os.open(program, os.O_RDONLY | os.O_CLOEXEC)
    if options.time_report:
        print(compilation.timer.report(), file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(executable, [_name(options), *request.words], os.environ)


def _interpret(options: Options, words: Sequence[str], sources: dict[str, str]) -> int:
    from ..compiler.interpreted_command import InterpretedCommand, command_library
    from ..compiler.interpreter import Interpreter
    from ..compiler.process import Runner
    from ..compiler.source import UNNAMED, read_source
    from ..compiler.toolchain import find_clang

    source = read_source(options.inputs[0])
    if source.text is not None:
        sources[source.name] = sources[UNNAMED] = source.text
    interpreter = Interpreter(_program(options.inputs[0], source.text), entry=options.entry)
    command = InterpretedCommand(interpreter, sources)
    library = command_library(find_clang(options.clang), Runner(options.verbose))
    with tempfile.TemporaryDirectory(prefix="hirc-run-") as folder:
        path = Path(folder) / "command.so"
        path.write_bytes(library)
        command.load(path)
    return command.run([_name(options), *words])


def _program(path: str, text: str | None) -> str | Path:
    """What the interpreter takes: a path, or the text that standard input had."""
    return text if path == "-" and text is not None else Path(path)


def _name(options: Options) -> str:
    """What the program is called in its messages."""
    return "program" if options.inputs[0] == "-" else Path(options.inputs[0]).stem


if __name__ == "__main__":
    sys.exit(main())

"""hirc-run: compiles a program and runs it, or interprets it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .start import end_by_interrupts

if TYPE_CHECKING:
    from ..compiler.options import Options
    from .command import Command
    from .hirc_run_arguments import RunRequest


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs hirc-run. Becomes the program; returns where that does not come about.

    It compiles or interprets in a process of its own where it is given no arguments. Otherwise it
    must not: a process that has threads cannot be forked.

    The exit status is the program's: 1 for a wrong input, 2 for a wrong command line of its own.
    """
    if arguments is None:
        end_by_interrupts()
    import tempfile

    # Memory, so that nothing stays: there may be no place for programs among the temporary files.
    program = os.memfd_create("program")
    # Values may be more than memory takes beside the program's own.
    with tempfile.TemporaryFile(prefix="hirc-weights-") as values:
        return _main(arguments, program, values.fileno())


def _main(arguments: Sequence[str] | None, program: int, values: int) -> int:
    from ..compiler import activity
    from .command import Command
    from .hirc_run_arguments import devices_of
    from .team import run_team

    if arguments is None:
        command = Command("hirc-run", sys.argv[1:])
        status, log = command.watched(
            lambda: command.guard(lambda: _run(command, program, values, activity.become))
        )
        words = list(log.words or ())
    else:
        command = Command("hirc-run", list(arguments))
        words = list[str]()
        status = command.guard(lambda: _run(command, program, values, words.extend))
    if not words:
        return status
    devices = devices_of(command.words)
    if devices is not None:
        return command.guard(lambda: run_team([program, values], words, devices))
    return command.guard(lambda: _become(program, values, words))


def _run(
    command: Command, program: int, values: int, become: Callable[[Sequence[str]], None]
) -> int:
    """Interprets the program; or compiles it into the file `program`, to `become` its command, with
    the weights that are not in it in the file `values`.
    """
    from .hirc_run_arguments import USAGE, parse_run_arguments

    request = parse_run_arguments(command.words)
    if request.options is None:
        print(USAGE, end="")
        return 0
    if request.interpret:
        return _interpret(request.options, request, command)
    # Imported late: MLIR and LLVM take time to load, and a wrong command line needs neither.
    import shutil
    from dataclasses import replace

    from ..compiler.driver import Compilation
    from ..compiler.options import WeightStorage
    from ..compiler.output import scratch_folder

    with scratch_folder() as folder:
        output, beside = folder / "program", folder / "program.safetensors"
        options = replace(request.options, output=str(output))
        given = options.weights_from
        in_place = given is not None and given.suffix == beside.suffix
        if in_place:
            options = replace(options, weights=WeightStorage.EXTERNAL)
        compilation = Compilation(options, sources=command.sources, reads_weights_in_place=in_place)
        compilation.run()
        with open(program, "wb", closefd=False) as file:
            file.write(output.read_bytes())
        words = list(request.words)
        if beside.exists():
            with open(beside, "rb") as source, open(values, "wb", closefd=False) as file:
                shutil.copyfileobj(source, file)
            words.append(f"--weights=/proc/self/fd/{values}")
        elif in_place:
            words.append(f"--weights={given}")
    if options.time_report:
        print(compilation.timer.report(), file=sys.stderr)
    become([_name(options), *words])
    return 0


def _become(program: int, values: int, words: Sequence[str]) -> NoReturn:
    """Puts the program in the place of this process."""
    os.set_inheritable(values, True)
    # Python ignores these two, which the program would inherit.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, list(words), os.environ)


def _interpret(options: Options, request: RunRequest, command: Command) -> int:
    from ..compiler.interpreted_command import InterpretedCommand, command_library
    from ..compiler.interpreter import Interpreter
    from ..compiler.output import scratch_folder
    from ..compiler.process import Runner
    from ..compiler.source import UNNAMED, read_source
    from ..compiler.toolchain import find_clang

    source = read_source(options.inputs[0])
    if source.text is not None:
        command.sources[source.name] = command.sources[UNNAMED] = source.text
    interpreter = Interpreter(_program(options.inputs[0], source.text), entry=options.entry)
    interpreted = InterpretedCommand(interpreter, command.guard, request.weights)
    library = command_library(find_clang(options.clang), Runner(options.verbose))
    with scratch_folder() as folder:
        path = folder / "command.so"
        path.write_bytes(library)
        interpreted.load(path)
    return interpreted.run([_name(options), *request.words])


def _program(path: str, text: str | None) -> str | Path:
    """Returns what the interpreter takes: a path, or the text that standard input had."""
    return text if path == "-" and text is not None else Path(path)


def _name(options: Options) -> str:
    """Returns what the program is called in its messages."""
    return "program" if options.inputs[0] == "-" else Path(options.inputs[0]).stem


if __name__ == "__main__":
    sys.exit(main())

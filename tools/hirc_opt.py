"""hirc-opt: reads MLIR, runs passes of hirc and of upstream, prints MLIR."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .start import end_by_interrupts

if TYPE_CHECKING:
    from ..compiler.errors import HircError
    from .command import Command


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs hirc-opt, in a process of its own where it is given no arguments.

    Returns the exit status: 0; 1 with errors on standard error; 70 with hirc's own.
    """
    if arguments is None:
        end_by_interrupts()
    from .command import Command

    command = Command("hirc-opt", list(sys.argv[1:] if arguments is None else arguments))
    if arguments is not None:
        return command.guard(lambda: _run(command))
    status, _ = command.watched(lambda: command.guard(lambda: _run(command)))
    return status


def _run(command: Command) -> int:
    from .hirc_opt_arguments import parse_arguments

    request = parse_arguments(command.words)
    # Imported late: what is watched must not have loaded MLIR.
    from ..compiler.output import refuse_overwriting, write
    from ..compiler.rendering import render
    from ..compiler.source import read_source
    from .command import FAILED
    from .hirc_opt_chunks import SPLIT_MARKER, chunks, pass_list, take

    if request.list_passes:
        print("\n".join(pass_list()))
        return 0
    refuse_overwriting(request.output, [request.input])
    source = read_source(request.input)
    command.sources[source.name] = source.text or ""
    outputs: list[bytes] = []
    errors: list[HircError] = []
    for chunk in chunks(source, request):
        output, found = take(chunk, request)
        errors += found
        outputs += [output] if output is not None else []
    for error in errors:
        print(render(error, command.sources), file=sys.stderr)
    if errors:
        return FAILED
    write(request.output, f"{SPLIT_MARKER}\n".encode().join(outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main())

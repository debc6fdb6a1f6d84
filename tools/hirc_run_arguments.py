"""hirc-run's command line: what is hirc's, and what is the program's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..compiler.errors import InputError
from ..compiler.options import Emit, Options
from ..compiler.source import is_model
from ..dialects.records import dataclass
from .hirc_arguments import Action, parse_arguments

USAGE = """\
usage: hirc-run [hirc's options] PROGRAM [the program's options]

Compiles an MLIR program and runs it; nothing is kept. In any order:

  --input=VALUE, --input=NAME=VALUE    an input, in order or by name: a .npy file, a number, or
                                       sizes and contents, 2x3xf32=1.5, =@iota, =@random:7
  --output=FILE, --output=NAME=FILE    an output as a .npy file
  --print                              print the outputs
  --weights=FILE                       the .safetensors file with the program's weights
  --seed=N                             the seed of the random numbers that a model draws
  --repeat=N, --time                   run again, and say how long it takes
  --devices=N                          run it in N processes, one for each device: a program that
                                       communicates; %r stands for the rank in files' names
  --interpret                          run a Host IR program op by op, without compiling it
  --help                               with a program, its inputs and outputs

and hirc's own, of which hirc --help tells: --offload-arch, --entry, --check, -O0 to -O3, -g ...

examples:
  hirc-run mlp.mlir --help
  hirc-run mlp.mlir --input=x.npy --input=bias=64xf32=@random:1 --output=y.npy
  hirc-run mlp.mlir --input=2x64xf32=@iota --input=0.5 --interpret
"""

_DEVICES, _MOST_DEVICES = "--devices", 1024
_WITH_VALUE = ("--input", "--output", "--repeat", "--seed")
# Two words for one: a program that is kept nowhere has its weights in a file.
_WEIGHTS = ("--weights", "--weights-from")
_WITHOUT = ("--print", "--time", "--help", "-h")


@dataclass(frozen=True)
class RunRequest:
    """A parsed command line: how to compile, and the words that the program gets.

    `options` is None where only the help is asked for.
    """

    options: Options | None
    words: tuple[str, ...] = ()
    weights: Path | None = None
    interpret: bool = False


def devices_of(arguments: Sequence[str]) -> int | None:
    """Returns what --devices asks for, None where it is not there. Raises InputError where it is
    wrong.
    """
    words = [word for word in arguments if word.partition("=")[0] == _DEVICES]
    if not words:
        return None
    value = words[-1].removeprefix(f"{_DEVICES}=")
    if not value.isdecimal() or not 1 <= int(value) <= _MOST_DEVICES:
        raise InputError(f"{_DEVICES} takes a number of devices: {_DEVICES}=2, not '{words[-1]}'")
    return int(value)


def parse_run_arguments(arguments: Sequence[str]) -> RunRequest:
    """Parses a command line. Raises InputError for one that is wrong."""
    if devices_of(arguments) is not None and "--interpret" in arguments:
        raise InputError(
            "--interpret runs one device", hint="leave it out, or use hirc.interpret_team in Python"
        )
    theirs: list[str] = []
    ours: list[str] = []
    interpret, weights = False, None
    words = iter(arguments)
    for word in words:
        name, is_value, value = word.partition("=")
        if name in _WEIGHTS:
            weights = value if is_value else next(words, "")
        elif word in _WITH_VALUE:
            theirs += [word, *([value] if (value := next(words, None)) is not None else [])]
        elif word in _WITHOUT or word.startswith(tuple(f"{name}=" for name in _WITH_VALUE)):
            theirs.append(word)
        elif name == _DEVICES:
            devices_of([word])
        elif word == "--interpret":
            interpret = True
        else:
            ours.append(word)
    if not ours and any(word in ("--help", "-h") for word in theirs):
        return RunRequest(None)
    request = parse_arguments(ours)
    _check(request.options, request.action, interpret)
    if weights is None:
        return RunRequest(request.options, tuple(theirs), None, interpret)
    if not weights:
        raise InputError("--weights needs a value: --weights=FILE")
    options = request.options
    if interpret:
        pass
    elif any(map(is_model, options.inputs)) or weights.endswith(".json"):
        # What the file has not, a model has; and programs read no index of several files.
        options = replace(options, weights_from=Path(weights))
    else:
        theirs.append(f"--weights={weights}")
    return RunRequest(options, tuple(theirs), Path(weights), interpret)


def _check(options: Options, action: Action, interpret: bool) -> None:
    """Refuses what runs nothing."""
    if action is not Action.COMPILE or options.dry_run or options.stop_after is not None:
        raise InputError("hirc-run runs a program", hint="hirc has the options that only look")
    if options.output is not None or options.emit is not Emit.EXE:
        raise InputError(
            "hirc-run keeps no file", hint="hirc -o and hirc --emit make one; --output=y.npy "
            "writes what the program gives"
        )  # fmt: skip
    if not options.inputs:
        raise InputError("no program to run", hint="hirc-run prog.mlir --input=x.npy")
    if interpret and (len(options.inputs) > 1 or options.link_inputs):
        raise InputError("--interpret takes one program, and nothing to link with it")

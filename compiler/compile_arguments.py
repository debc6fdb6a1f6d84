"""What can be wrong with the arguments of `hirc.compile`, before anything is done with them.

A command's arguments are words, which argparse takes apart; a caller in Python passes anything.
"""

from __future__ import annotations

import operator
import os
import re
import reprlib
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any

from .errors import InputError
from .options import (
    CHECKS,
    Convolutions,
    Float32Products,
    Graphs,
    Products,
    Schedules,
    StateStorage,
    WeightStorage,
)

_LEVELS = range(4)
_CHOICES: Mapping[str, type[StrEnum]] = {
    "float32_products": Float32Products,
    "products": Products,
    "convolutions": Convolutions,
    "schedules": Schedules,
    "graph": Graphs,
    "weights": WeightStorage,
    "state": StateStorage,
}
_TARGETS = "a chip's name such as sm_90, cpu or native, or several"
_LIBRARIES = "a list of paths of shared libraries"
_TRUTHS = ("fast_math", "overlap_by_peers", "debug", "cache")


def check_arguments(target: Any, entry: Any, libraries: Any, options: Mapping[str, Any]) -> None:
    """Checks the types of what `hirc.compile` is called with, and the words of a few it takes.

    Raises InputError, with what may be there.
    """
    _check_entry(entry)
    names = _listed("target", target, _TARGETS)
    for each in names:
        if not isinstance(each, str):
            raise _wrong("target", each, _TARGETS)
    if not names:
        raise _wrong("target", target, _TARGETS)
    if isinstance(libraries, (str, os.PathLike)):
        raise _wrong("libraries", libraries, _LIBRARIES)
    for each in _listed("libraries", libraries, _LIBRARIES):
        if not isinstance(each, (str, os.PathLike)):
            raise _wrong("libraries", each, _LIBRARIES)
    for name, kind in _CHOICES.items():
        _check_choice(name, options[name], [str(each) for each in kind])
    for name in _TRUTHS:
        if not isinstance(options[name], bool):
            raise _wrong(name, options[name], "True or False")
    _check_numbers(options)
    for each in _listed("checks", options["checks"], f"a list of {' and '.join(CHECKS)}"):
        _check_choice("checks", each, CHECKS)


def check_model_call(program: Any, args: Any, kwargs: Any) -> None:
    """Checks that a program which is no text is a model, and what it is called with. Raises
    InputError.
    """
    if isinstance(program, type):
        raise InputError(
            f"the program is the class {program.__qualname__}, and not an instance of it",
            hint=f"{program.__qualname__}(...) makes one",
        )
    # An exported program cannot be called.
    if not callable(program) and not hasattr(program, "graph_module"):
        raise InputError(
            f"the program is of type {type(program).__name__}",
            hint="it is MLIR text, a path, an MLIR module, a program or module of the builder, or "
            "a torch model",
        )
    if isinstance(args, (str, bytes)) or not isinstance(args, Sequence):
        raise _wrong("args", args, "a tuple of the inputs to compile for: args=(x,)")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise _wrong("kwargs", kwargs, "a dict of inputs by name, or None")


def check_entry(entry: str, programs: Collection[str]) -> None:
    """Raises InputError for an entry that is no program, unless it is the default one."""
    if entry not in programs and entry != "main":
        raise InputError(
            f"entry is {entry!r}, and there is no program of that name",
            hint=f"it is one of {', '.join(sorted(programs))}",
        )


def _check_entry(entry: Any) -> None:
    # What a pipeline's text can say of a function.
    if not isinstance(entry, str) or not re.fullmatch(r"[^\s{}(),=]+", entry):
        raise _wrong("entry", entry, "the name of a program, without blanks and any of {}(),=")


def _check_choice(name: str, given: Any, allowed: Sequence[str]) -> None:
    if name == "float32_products" and given is None:
        return
    if not isinstance(given, str) or given not in allowed:
        raise _wrong(name, given, f"one of {', '.join(allowed)}")


def _check_numbers(options: Mapping[str, Any]) -> None:
    level, steps = options["opt_level"], options["overlap_steps"]
    if not _is_whole(level) or level not in _LEVELS:
        raise _wrong("opt_level", level, "one of 0, 1, 2, 3")
    if not _is_whole(steps) or steps < 0:
        raise _wrong("overlap_steps", steps, "a number from 0 on")


def _is_whole(given: Any) -> bool:
    try:
        operator.index(given)
    except TypeError:
        return False
    return not isinstance(given, bool)


def _listed(name: str, given: Any, what: str) -> list[Any]:
    """Returns what an argument lists, a string by itself too. Raises InputError for nothing."""
    if isinstance(given, (bytes, Mapping)) or not isinstance(given, Collection):
        raise _wrong(name, given, what)
    return [given] if isinstance(given, str) else list(given)


def _wrong(name: str, given: Any, what: str) -> InputError:
    return InputError(f"{name} is {reprlib.repr(given)}", hint=f"it is {what}")

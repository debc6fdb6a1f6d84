"""Tunings: files of what was found to be the best configurations of classes of operations.

    {"format": 1, "arch": "sm_90a", "device": "NVIDIA H200", "hirc": "0.1.0", "command": [...],
     "seed": 16, "entries": {"p2^12/16; in f32 1; out f32 1; 2^1": {
       "configuration": {"family": "pointwise", "kernel": "flat", "width": 4, ...},
       "seconds": 4.1e-06, "chosen_seconds": 4.4e-06}}}

`hirc.tools.tune` writes them on a machine that has the chip; builds on any machine read them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ..dialects.mlir import ir
from ..pipelines.schedules.choose import FAMILIES
from ..pipelines.schedules.configuration import FAMILY, Value, attribute_of
from ..pipelines.schedules.shape_class import TUNING, Tuning
from .errors import InputError
from .target import Target

FORMAT = 1
_HINT = "a tuning is written by python -m hirc.tools.tune"


def read_tuning(path: Path, targets: Sequence[Target]) -> Tuning:
    """Returns a file's configurations. Raises InputError where it is none, or of other chips."""
    try:
        found: Any = json.loads(path.read_text())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint=_HINT) from error
    except (UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{path} is no JSON: {error}", hint=_HINT) from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is no tuning", hint=_HINT)
    tuning = cast(dict[str, Any], found)
    if tuning.get("format") != FORMAT:
        raise InputError(
            f"{path} is of format {tuning.get('format')!r}, and hirc reads {FORMAT}", hint=_HINT
        )
    arch, entries = tuning.get("arch"), tuning.get("entries")
    if not isinstance(arch, str) or not isinstance(entries, dict):
        raise InputError(f"{path} has no 'arch' or no 'entries'", hint=_HINT)
    other = next((each for each in targets if _chip(each.arch) != _chip(arch)), None)
    if other is not None:
        raise InputError(
            f"{path} was measured on {arch}, and the build is for {other.arch}",
            hint=f"tune on {other.arch}, or leave --tuning out",
        )
    return {
        str(name): _configuration(path, str(name), entry)
        for name, entry in cast(dict[str, Any], entries).items()
    }


def place_tuning(module: ir.Operation, tuning: Tuning) -> None:
    """Gives a module the configurations that its operations are to take."""
    with module.context:
        module.attributes[TUNING] = ir.DictAttr.get(
            {name: attribute_of(values) for name, values in tuning.items()}
        )


def _chip(arch: str) -> str:
    """An arch without what its variants have besides: `sm_90` of `sm_90a`."""
    return arch.rstrip("af") if arch.startswith("sm_") else arch


def _configuration(path: Path, name: str, entry: Any) -> dict[str, Value]:
    values: Any = entry.get("configuration") if isinstance(entry, dict) else None
    if not isinstance(values, dict) or cast(dict[str, Any], values).get(FAMILY) not in FAMILIES:
        raise InputError(f"{path}: '{name}' has no configuration of {', '.join(FAMILIES)}")
    configuration = cast(dict[str, Any], values)
    wrong = next(
        (key for key, each in configuration.items() if not isinstance(each, int | str)), ""
    )
    if wrong:
        raise InputError(f"{path}: '{wrong}' of '{name}' is no number, flag or word")
    return configuration

"""What a model changes: its buffers, which become state, and inputs, which the caller then has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, OutputSpec

from ...compiler.errors import UnsupportedError
from .fake_values import has_no_elements

CHANGES = (
    OutputKind.BUFFER_MUTATION,
    OutputKind.PARAMETER_MUTATION,
    OutputKind.USER_INPUT_MUTATION,
)


def changed_names(program: ExportedProgram) -> set[str]:
    """Returns the names of what a program changes."""
    specs = program.graph_signature.output_specs
    return {spec.target for spec in specs if spec.kind in CHANGES and spec.target is not None}


@dataclass(frozen=True)
class Changes:
    """What a program changes.

    `updated` has the argument's number of each of its last results. `zeros` are the buffers among
    them that hold zeros and are in no checkpoint, which could have other values.
    """

    updated: tuple[int, ...]
    zeros: frozenset[str]


def find_changes(
    program: ExportedProgram,
    specs: Iterable[tuple[OutputKind, str]],
    arguments: Sequence[str | int],
    names: Sequence[str],
    weights: Mapping[str, Tensor],
    aliases: Mapping[str, tuple[str, ...]],
) -> Changes:
    """Finds the arguments that a program changes, by the kinds and targets of its results.

    Raises UnsupportedError where one shares a part of its memory with another.
    """
    first = {alias: name for name, others in aliases.items() for alias in others}
    updated: list[int] = []
    zeros: set[str] = set()
    for kind, target in specs:
        name = first.get(target, target)
        is_held = kind is not OutputKind.USER_INPUT_MUTATION
        updated += [
            place
            for place, argument in enumerate(arguments)
            if names[place] == name and isinstance(argument, str) == is_held
        ]
        if is_held:
            _check_alone(name, weights)
            if _begins_as_zeros(program, name, weights[name]):
                zeros.add(name)
    return Changes(tuple(updated), frozenset(zeros))


def change_of(spec: OutputSpec) -> tuple[OutputKind, str] | None:
    """Returns the kind and the name of what an output changes, None of one that is given to the
    caller.
    """
    return (spec.kind, spec.target) if spec.kind in CHANGES and spec.target is not None else None


def _check_alone(name: str, weights: Mapping[str, Tensor]) -> None:
    changed = weights[name]
    if has_no_elements(changed) or not changed.numel():
        return
    storage = changed.untyped_storage().data_ptr()
    for other, value in weights.items():
        if other == name or has_no_elements(value) or not value.numel():
            continue
        if value.untyped_storage().data_ptr() == storage:
            raise UnsupportedError(
                f"the model changes '{name}', and '{other}' is in the same memory",
                stage="import",
                hint="make one of them a copy (clone), or compute it from the other",
            )


def _begins_as_zeros(program: ExportedProgram, name: str, value: Tensor) -> bool:
    # What is a weight is no buffer to torch any more.
    specs = program.graph_signature.input_specs
    if has_no_elements(value) or all(s.target != name or s.persistent is not False for s in specs):
        return False
    return not bool(value.detach().contiguous().reshape(-1).view(torch.uint8).any())

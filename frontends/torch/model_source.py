"""A torch model as what the compiler takes, for `hirc.compile`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from ...compiler.sharding import Sharding
from ...compiler.source import Source
from .import_model import import_model


def model_source(
    model: nn.Module | Callable[..., Any] | ExportedProgram,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
    entry: str,
    sharding: Sharding | None = None,
) -> tuple[Source, Mapping[str, type]]:
    """Returns the program of a model for these inputs, and the types that it is called with by
    name.

    Raises HircError: InputError where the call is wrong, UnsupportedError with the user's line
    where something of the model cannot be compiled.
    """
    imported = import_model(
        model, tuple(args), kwargs, name=entry, dynamic_shapes=dynamic_shapes, sharding=sharding
    )
    return imported.source(_name(model)), imported.calling.types


def float32_products() -> str:
    """Returns what torch.set_float32_matmul_precision, or its allow_tf32, lets products be."""
    return "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"


def _name(model: Any) -> str:
    """Returns what the library is called, and the model in messages."""
    if isinstance(model, ExportedProgram):
        return "model"
    name = type(model).__name__
    if not isinstance(model, nn.Module):
        # An object that is called, such as a partial function, has no name.
        name = getattr(model, "__name__", name)
    return name if name.isidentifier() else "model"

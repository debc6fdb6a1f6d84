"""`hirc.compile`: a torch model as a loaded library that is called as the model is."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from ...compiler.driver import Compilation
from ...compiler.errors import InputError
from ...compiler.loader import Library
from ...compiler.loader_artifact import Artifact
from ...compiler.native import native_targets
from ...compiler.options import Emit, MatmulLibrary, Options, Schedules, StateStorage, WeightStorage
from ...compiler.target import Target
from .import_model import import_model


def compile(
    model: nn.Module | Callable[..., Any] | ExportedProgram,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    target: str | Sequence[str] = "native",
    opt_level: int = 2,
    fast_math: bool = False,
    allow_tf32: bool | None = None,
    matmul_library: str = "auto",
    schedules: str = "auto",
    checks: Sequence[str] = (),
    debug: bool = False,
    weights: str = "auto",
    weights_from: str | os.PathLike[str] | None = None,
    state: str = "kept",
) -> Artifact:
    """Compiles a torch model for the inputs `args` and `kwargs`, and loads what comes of it.

    The model is a module, a function, or what torch.export.export made. Of the inputs only types
    and sizes count, so they may be fake tensors or on `meta`; what is no tensor becomes part of the
    program. `dynamic_shapes` are torch.export's: a size that is a `Dim` stays open in its limits.
    `target` is what --offload-arch takes, or several; the other options are the command's.
    `allow_tf32` is what torch allows its own products now, where it is not given.

    Raises HircError: InputError where the call is wrong, UnsupportedError with the user's line
    where something of the model cannot be compiled.
    """
    name = _name(model)
    folder = Path(tempfile.mkdtemp(prefix="hirc-model-"))
    try:
        library = folder / f"lib{name}.so"
        options = Options(
            inputs=(name,),
            output=str(library),
            emit=Emit.SHARED,
            targets=_targets(target),
            opt_level=opt_level,
            debug=debug,
            fast_math=fast_math,
            allow_tf32=_allows_tf32() if allow_tf32 is None else allow_tf32,
            matmul_library=_choice(MatmulLibrary, "matmul_library", matmul_library),
            schedules=_choice(Schedules, "schedules", schedules),
            checks=frozenset(checks),
            weights=_choice(WeightStorage, "weights", weights),
            weights_from=None if weights_from is None else Path(weights_from),
            state=_choice(StateStorage, "state", state),
        )
        imported = import_model(model, tuple(args), kwargs, dynamic_shapes=dynamic_shapes)
        Compilation(options, given={name: imported.source(name)}).run()
        artifact = Artifact(Library(library, None), imported.calling.types)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(artifact, shutil.rmtree, folder, ignore_errors=True)
    return artifact


def _allows_tf32() -> bool:
    """Whether torch.set_float32_matmul_precision, or allow_tf32, lets products round to tf32."""
    return torch.get_float32_matmul_precision() != "highest"


def _targets(names: str | Sequence[str]) -> tuple[Target, ...]:
    given = names.split(",") if isinstance(names, str) else names
    targets: dict[Target, None] = {}
    for name in given:
        if name == "native":
            targets.update(dict.fromkeys(native_targets()))
        else:
            targets[Target.parse(name)] = None
    return tuple(targets)


def _choice(kind: Any, option: str, value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise InputError(
            f"{option} is {value!r}", hint=f"it is one of {', '.join(map(str, kind))}"
        ) from None


def _name(model: Any) -> str:
    """What the library is called, and the model in messages."""
    if isinstance(model, ExportedProgram):
        return "model"
    name = type(model).__name__ if isinstance(model, nn.Module) else model.__name__
    return name if name.isidentifier() else "model"

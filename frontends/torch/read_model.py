"""Torch models by what the command line calls them: `model.pt2`, `file.py:name`."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from ...compiler import activity
from ...compiler.errors import HircError, InputError, Position
from ...compiler.loader_calling import as_key
from ...compiler.sharding import Sharding, combined, make_sharding
from ...compiler.source import file_of
from .fake_values import new_mode
from .import_model import ImportedModel, import_model
from .torch_log import told_by_torch
from .user_errors import said_by, user_error

# What torch says of a type among a saved program's inputs or outputs that nobody has registered.
_UNKNOWN_KIND = re.compile(r"Deserializing (\S+) in pytree is not registered")
_INPUTS_HINT = (
    "define get_inputs(), which returns a list of positional arguments or a dict of keywords"
)


def read_model(path: str, entry: str, sharding: Sharding | None = None) -> ImportedModel:
    """Imports the model as a function called `entry`, spread as is asked for on top of what its
    file says. Raises InputError, UnsupportedError.
    """
    if path.endswith(".pt2"):
        return import_model(_saved(Path(path)), name=entry, sharding=combined(sharding, None))
    file = file_of(path)
    activity.read_from(file)
    with _loaded(Path(file)) as module:
        return _import(module, Path(file), path[len(file) + 1 :], entry, sharding)


def _saved(path: Path) -> ExportedProgram:
    """Returns the program that torch.export.save wrote."""
    if not _is_archive(path):
        raise InputError(
            f"{path} holds no exported program: it is damaged, or something else",
            hint="torch.export.save(torch.export.export(model, inputs), 'model.pt2') writes one",
        )
    activity.read_from(str(path))
    activity.enter("import", "torch's reader", input="the model")
    kinds: set[str] = set()
    while True:
        with told_by_torch() as told:
            try:
                return _with_tuples(torch.export.load(path))
            except Exception as error:
                said = said_by((told or [error])[0])
                unknown = _UNKNOWN_KIND.search(said)
                if unknown is None:
                    hint = "it is damaged, or another version of torch wrote it"
                elif unknown[1] not in kinds and _is_imported(unknown[1]):
                    kinds.add(unknown[1])
                    continue
                else:
                    hint = (
                        f"importing {unknown[1].rpartition('.')[0]} must register this type with "
                        "torch's pytrees: install its package, or name its folder in PYTHONPATH"
                    )
                raise InputError(f"torch cannot load {path}: {said}", hint=hint) from error


def _with_tuples(program: ExportedProgram) -> ExportedProgram:
    """Makes tuples again of keys of dicts, which torch reads as lists."""

    def restore(spec: pytree.TreeSpec) -> None:
        if spec.type in (dict, OrderedDict):
            spec.context[:] = map(as_key, spec.context)
        for child in spec.children():
            restore(child)

    for spec in (program.call_spec.in_spec, program.call_spec.out_spec):
        if spec is not None:
            restore(spec)
    return program


def _is_imported(kind: str) -> bool:
    """Imports the module that defines a type, and so registers it. Returns whether there is one."""
    try:
        importlib.import_module(kind.rpartition(".")[0])
    except (ImportError, ValueError):
        return False
    return True


def _is_archive(path: Path) -> bool:
    try:
        return zipfile.is_zipfile(path)
    except zipfile.BadZipFile:
        return False  # Some of what it asks about is damaged.


@contextmanager
def _loaded(file: Path) -> Generator[ModuleType]:
    """The user's file as a module, which finds those beside it."""
    name = file.stem
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    sys.path.insert(0, str(file.resolve().parent))
    try:
        _run(f"{file} cannot be imported", lambda: spec.loader.exec_module(module))  # pyright: ignore[reportOptionalMemberAccess]
        yield module
    finally:
        sys.path.pop(0)
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before


def _import(
    module: ModuleType, file: Path, name: str, entry: str, sharding: Sharding | None
) -> ImportedModel:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(
                f"{file} defines no {name}",
                position=Position(str(file), 0, 0),
                hint=_models(module),
            )
        found = getattr(found, part)
    model = _model(found, module, name)
    given = _example(module, name, model)
    args, kwargs = ((), dict(given)) if isinstance(given, Mapping) else (tuple(given), {})
    shapes, mesh, table = (_said(module, name) for name in ("dynamic_shapes", "mesh", "shardings"))
    # A mesh alone may be anything of that name.
    with _blaming(file if sharding is None else None):
        said = None if table is None else make_sharding(mesh, table)
        return import_model(
            model,
            args,
            kwargs,
            name=entry,
            dynamic_shapes=shapes,
            sharding=combined(sharding, said),
        )


@contextmanager
def _blaming(file: Path | None) -> Generator[None]:
    """Adds the file that gives the mesh to an InputError without a position."""
    try:
        yield
    except InputError as error:
        if file is not None and error.position is None:
            error.position = Position(str(file), 0, 0)
        raise


def _said(module: ModuleType, name: str) -> Any:
    """Returns what a file says by a name, a value or a function that returns it."""
    found = getattr(module, name, None)
    return _run(f"{name}() fails", found) if callable(found) else found


def _model(found: Any, module: ModuleType, name: str) -> Any:
    """Returns the module or function that a name stands for; a class is made an instance."""
    if isinstance(found, type) and issubclass(found, nn.Module):
        make = getattr(module, "get_init_inputs", list)
        given = _run("get_init_inputs() fails", make)
        keywords = isinstance(given, Mapping)
        try:
            found = found(**given) if keywords else found(*given)
        except HircError:
            raise
        except Exception as error:
            raise user_error(f"{name} cannot be made", error) from error
    if isinstance(found, nn.Module):
        # A program infers.
        return found.eval().requires_grad_(requires_grad=False)
    if callable(found) and not isinstance(found, type):
        return found
    raise InputError(
        f"{name} is a {type(found).__name__}, no torch module or function",
        position=Position(str(module.__file__), 0, 0),
        hint=_models(module),
    )


def _example(module: ModuleType, name: str, model: Any) -> Any:
    """Returns what the model is called with, fake where that will do."""
    make = getattr(module, f"{name}_inputs", None) or getattr(module, "get_inputs", None)
    if make is None:
        function = model.forward if isinstance(model, nn.Module) else model
        parameters = inspect.signature(function).parameters.values()
        if any(
            each.default is each.empty and each.kind < each.VAR_POSITIONAL for each in parameters
        ):
            raise InputError(
                f"what to call {name} with, {module.__file__} does not say",
                position=Position(str(module.__file__), 0, 0),
                hint=_INPUTS_HINT,
            )
        return ()
    try:
        with told_by_torch(), new_mode():
            given = make()
    except Exception:  # noqa: BLE001 - what needs elements is called again, and says what is wrong
        given = _run(f"{make.__name__}() fails", make)
    if not isinstance(given, (list, tuple, Mapping)):
        raise InputError(
            f"{make.__name__}() returns a {type(given).__name__}",
            position=Position(str(module.__file__), 0, 0),
            hint=_INPUTS_HINT,
        )
    return given


def _run(what: str, function: Callable[[], Any]) -> Any:
    """Returns what the user's function returns. Raises InputError at the line that raises."""
    try:
        return function()
    except HircError:
        raise
    except Exception as error:
        raise user_error(what, error) from error


def _models(module: ModuleType) -> str:
    """Returns which names of a file can be compiled."""
    names = [
        name
        for name, value in vars(module).items()
        if isinstance(value, nn.Module)
        or (isinstance(value, type) and issubclass(value, nn.Module) and _is_of(value, module))
    ]
    return f"it defines {', '.join(names)}" if names else "it defines no torch module"


def _is_of(kind: type, module: ModuleType) -> bool:
    return kind.__module__ == module.__name__

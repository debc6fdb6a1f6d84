"""The base of hirc's passes: a frozen dataclass whose fields are its options.

The class's `name` and fields define its textual form, `name{some-option=value}`, which is also
its part of a cache key. Passes are found by name through `find_pass`: pass `some-name` is in
passes/some_name.py, which is loaded when the name is first asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import ClassVar, NoReturn, TypeVar

from ..dialects.mlir import ir
from ..dialects.records import dataclass


class PassFailure(Exception):
    """A pass found the program at fault; its diagnostics have been emitted."""


class InvalidResult(Exception):
    """A pass of hirc left invalid IR, which is a bug. Its diagnostics have been emitted."""


def fail(op: ir.Operation | ir.OpView, message: str) -> NoReturn:
    """Emits an error diagnostic at `op`'s location and ends the pass."""
    fail_at(op.location, message)


def fail_at(location: ir.Location, message: str) -> NoReturn:
    """Emits an error diagnostic at a location and ends the pass."""
    location.emit_error(message)
    raise PassFailure(message)


@dataclass(frozen=True)
class Pass(ABC):
    """One transformation of the operation it is anchored on, usually a builtin.module.

    Fields may be str, int or bool, each with a default. `subjects` are operations without any
    of which the pass does nothing, and is not run: names, or beginnings of names that end with a
    dot or an underscore. A pass that names none is always run. `makes` names, in the same way, all
    operations that it may leave where there were none of them; None where that is not said.
    """

    name: ClassVar[str]
    subjects: ClassVar[tuple[str, ...]] = ()
    makes: ClassVar[tuple[str, ...] | None] = None

    @abstractmethod
    def run(self, op: ir.Operation) -> bool | None:
        """Transforms `op` in place; reports the user's errors with `fail`.

        Returns False where it left everything as it was, and says so.
        """

    def follows(self, op: ir.Operation) -> ir.Operation | None:
        """Returns the instructions in `op` that upstream's code follows as they stand, mostly none.

        Where that crashes, they are at fault.
        """
        del op
        return None

    def __str__(self) -> str:
        return pass_text(
            self.name, **{each.name: getattr(self, each.name) for each in fields(self)}
        )


PassClass = TypeVar("PassClass", bound=type[Pass])

_registry: dict[str, type[Pass]] = {}


def register(cls: PassClass) -> PassClass:
    """Makes a pass known by its name."""
    _registry[cls.name] = cls
    return cls


def pass_names() -> list[str]:
    """Returns the names of hirc's passes, sorted."""
    return sorted(_files())


def find_pass(name: str) -> type[Pass] | None:
    """Returns hirc's pass of that name, or None (it may be upstream's)."""
    module = _files().get(name)
    if module is not None:
        import_module(module)
    return _registry.get(name)


@cache
def _files() -> dict[str, str]:
    """Returns the modules of hirc's passes, by the passes' names."""
    package = f"{__package__}.passes"
    files = (Path(__file__).parent / "passes").glob("[!_]*.py")
    return {path.stem.replace("_", "-"): f"{package}.{path.stem}" for path in files}


def make_pass(name: str, options: dict[str, str]) -> Pass:
    """Builds the pass `name` from its textual options; ValueError says which is wrong."""
    cls = find_pass(name)
    if cls is None:
        raise ValueError(f"there is no pass '{name}'")
    known = {field.name: field for field in fields(cls)}
    values: dict[str, str | int | bool] = {}
    for key, text in options.items():
        field = known.get(key.replace("-", "_"))
        if field is None:
            names = ", ".join(sorted(k.replace("_", "-") for k in known)) or "none"
            raise ValueError(f"pass '{name}' has no option '{key}' (it has: {names})")
        values[field.name] = _option_value(name, key, text, field.default)
    return cls(**values)


def pass_text(name: str, **options: str | int | bool | tuple[str, ...]) -> str:
    """Returns a pass with options as a pipeline's text has it; several words of one are joined."""
    texts = (f"{key.replace('_', '-')}={_option_text(value)}" for key, value in options.items())
    return f"{name}{{{' '.join(texts)}}}" if options else name


def _option_text(value: str | int | bool | tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "+".join(value) if isinstance(value, tuple) else str(value)


def _option_value(pass_name: str, key: str, text: str, default: object) -> str | int | bool:
    if isinstance(default, bool):
        if text not in ("true", "false", "1", "0"):
            raise ValueError(f"option '{key}' of pass '{pass_name}' takes true or false: '{text}'")
        return text in ("true", "1")
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise ValueError(
                f"option '{key}' of pass '{pass_name}' takes a whole number, not '{text}'"
            ) from None
    return text

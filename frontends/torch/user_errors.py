"""Errors of torch and torch-mlir as hirc's: at the user's line, without a traceback."""

from __future__ import annotations

import functools
import re
import sysconfig
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch_mlir
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from ...compiler.errors import (
    HircError,
    InputError,
    InternalError,
    Position,
    UnsupportedError,
)
from ...compiler.session import Diagnostic
from ...dialects.mlir import ir
from ...pipelines.locations import file_position
from ...pipelines.walking import operations_where

# What is between the user's code and what fails: torch, torch-mlir, Python's library and hirc.
_ROOT = Path(__file__).resolve().parent.parent.parent
_OURS = tuple(f"{_ROOT / name}/" for name in ("frontends", "compiler", "tools/hirc"))
_NOT_THE_USERS = (
    *_OURS,
    *(f"{Path(folder).resolve()}/" for folder in (*torch.__path__, *torch_mlir.__path__)),
)
_LIBRARY = f"{Path(sysconfig.get_path('stdlib')).resolve()}/"
_SITE_PACKAGES = ("site-packages/", "dist-packages/")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_ILLEGAL = re.compile(r"failed to legalize operation '([^']+)'")
# Operations that only give others what they are called with.
_GIVING = ("torch.constant.", "torch.prim.", "torch.vtensor.", "torch.aten.empty", "torch_c.")
# A line such as y[k] = value.
_WRITING = re.compile(r"\]\s*=(?!=)")
# What torch says of the results of branches.
_BRANCHES = re.compile(
    r"When merging two branches' output[^\"]*|The sorted order of strides[^.\"]*|"
    r"Unmatched output spec|differing branch outputs"
)
_SHARED_MEMORY = re.compile(
    r"might be aliasing the input or the output|Encountered aliasing during higher order op"
)
_MUTATED = re.compile(r"Constant \S+ is mutated in the forward method")
# What Python raises for code that is wrong, and torch seldom for a tensor.
_MISTAKES = (TypeError, AttributeError, LookupError, NameError)
SPLIT = (
    "compute it of operations that are lowered, outside of the model, or in a kernel of your own"
)


@functools.cache
def _resolved(file: str) -> str:
    """Returns where a file of a stack is: a package may be imported through a link."""
    return str(Path(file).resolve())


def _is_ours(file: str) -> bool:
    """Returns whether a file of a stack is hirc's."""
    return _resolved(file).startswith(_OURS)


@functools.cache
def is_the_users(file: str) -> bool:
    """Returns whether a line of this file is the user's, or of a package that the user's code
    calls.
    """
    if file.startswith(("<", "torch/")):
        return False
    path = _resolved(file)
    if path.startswith(_NOT_THE_USERS):
        return False
    return not path.startswith(_LIBRARY) or any(part in path for part in _SITE_PACKAGES)


def user_position(error: BaseException) -> Position | None:
    """Returns the innermost user line that an exception passed, or None."""
    found: Position | None = None
    seen: BaseException | None = error
    while seen is not None and found is None:
        for frame in traceback.extract_tb(seen.__traceback__):
            if is_the_users(frame.filename):
                found = Position(frame.filename, frame.lineno or 1, (frame.colno or 0) + 1)
        if isinstance(seen, SyntaxError) and seen.filename is not None:
            found = Position(seen.filename, seen.lineno or 1, seen.offset or 1)
        seen = seen.__cause__ or seen.__context__
    return found


def user_frames(stack_trace: str) -> str:
    """Returns a node's stack trace with the user's frames alone, or where none is
    without hirc's.
    """
    frames: list[str] = []
    for line in stack_trace.splitlines(keepends=True):
        match = _FRAME.search(line)
        if match is not None and line.lstrip().startswith("File "):
            frames.append("")
        if frames:
            frames[-1] += line
    theirs = [frame for frame in frames if is_the_users(_file(frame))]
    return "".join(theirs or [frame for frame in frames if not _is_ours(_file(frame))])


def stack_position(stack_trace: str) -> Position | None:
    """Returns the innermost user line in a node's stack trace, or None."""
    places = [_FRAME.search(line) for line in stack_trace.splitlines()]
    found = [place for place in places if place is not None and is_the_users(place[1])]
    return Position(found[-1][1], int(found[-1][2]), 1) if found else None


def _file(frame: str) -> str:
    match = _FRAME.search(frame)
    return "" if match is None else match[1]


@contextmanager
def fixed_sizes() -> Generator[list[Position]]:
    """Yields where torch makes constants of open sizes: what it says of that names no line."""
    found: list[Position] = []
    fix = getattr(ShapeEnv, "_set_replacement", None)

    def fixed(env: ShapeEnv, size: Any, value: Any, why: str) -> None:
        place = _calling_position() if value.is_number else None
        if place is not None:
            found.append(place)
        assert fix is not None
        fix(env, size, value, why)

    # Another version of torch may have another name.
    with nullcontext() if fix is None else mock.patch.object(ShapeEnv, "_set_replacement", fixed):
        yield found


def _calling_position() -> Position | None:
    """Returns the innermost user line that is being run, or None."""
    lines = traceback.walk_stack(None)
    place = next((each for each in lines if is_the_users(each[0].f_code.co_filename)), None)
    return None if place is None else Position(place[0].f_code.co_filename, place[1], 1)


def export_error(error: Exception, fixed: Sequence[Position] = ()) -> HircError:
    """Returns the error for a model that torch.export does not take; `fixed` is where it made
    constants of open sizes.
    """
    hints = {
        "GuardOnDataDependentSymNode": "what a tensor holds cannot decide what is computed: use "
        "torch.where or torch.cond, or give the value as a Python number",
        "ConstraintViolationError": "give these sizes as the model needs them, or leave them out "
        "of dynamic_shapes",
    }
    name = type(error).__name__
    hint = hints.get(name)
    said, position = said_by(error), user_position(error)
    constant = _MUTATED.match(first_line(error))
    if constant is not None:
        said = "it changes a tensor that is neither a buffer nor an attribute of a module"
        hint = "register it as a buffer: of a list or another object torch sees a constant alone"
    if "Could not extract specialized integer" in said and _writes(error):
        hint = "a tensor without dims is no place to write to in a loop, or beside other tensors: "
        hint += "use index_copy_, or give it one dim, as in y[k[None]] = value"
    if _SHARED_MEMORY.search(str(error)) is not None:
        said = "what a branch or an iteration returns shares memory with what it is given"
        hint = "return a copy, x.clone(), and give it no two views of one tensor"
    branches = _BRANCHES.search(str(error))
    if branches is not None:
        said = f"the branches of torch.cond return different things: {branches[0].strip()}"
        hint = "both branches must return tensors of the same dims, types and strides, in the "
        hint += "same containers; x.contiguous() gives strides of packed rows"
    if name == "UserError" and "onstraints violated" in said:
        said, hint = _violated(str(error)), hints["ConstraintViolationError"]
        position = fixed[0] if fixed and "to be a constant" in said else position
    return UnsupportedError(
        f"torch cannot export the model: {said}",
        position=position,
        stage="import",
        hint=hint,
    )


def _writes(error: Exception) -> bool:
    """Returns whether the innermost user line is one such as y[k] = value."""
    # Of the bodies of loops torch tells the lines.
    told = str(error).partition("from user code:")[2]
    frames = user_frames(told or "".join(traceback.format_tb(error.__traceback__)))
    return _WRITING.search(frames.rpartition("File ")[2]) is not None


def decomposing_error(error: Exception) -> HircError:
    """Returns the error for what is raised while torch replaces operators by what they are made of.

    torch has run the model: a mistake in Python code is a bug, but in a custom operator.
    """
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    called = [file for file in frames if _is_ours(file) or is_the_users(file)]
    if isinstance(error, _MISTAKES) and called and _is_ours(called[-1]):
        return InternalError(
            f"internal error in what an operator is made of: {said_by(error)}",
            position=stack_position(str(error)),
            stage="import",
            hint=f"report this; {SPLIT}",
        )
    return export_error(error)


def user_error(what: str, error: BaseException) -> InputError:
    """Returns the error for an exception that the user's own code raises."""
    return InputError(
        f"{what}: {type(error).__name__}: {first_line(error)}",
        position=user_position(error),
        stage="import",
    )


def lowering_error(diagnostics: Sequence[Diagnostic], module: ir.Operation) -> HircError:
    """Returns the error for an operation that torch-mlir has no lowering for: the first that is
    left.
    """
    errors = [each for each in diagnostics if each.severity == "error"]
    text = " ".join(each.message for each in errors)
    position = next((each.position for each in errors if each.position is not None), None)
    operation = None
    match = _ILLEGAL.search(text)
    if match is not None:
        # What gives a number to an operation is named where that operation has no lowering.
        left = operations_where(module, lambda op: op.name == match[1] and _is_left(op))
        left = left or operations_where(module, _is_left)
        if left:
            place = file_position(left[0].location)
            position = position if place is None else Position(*place)
            operation = _torch_name(left[0])
    # What follows the first colon is the operation's text.
    why = f"'{operation}' has no lowering" if operation else text.partition(": ")[0]
    return UnsupportedError(
        f"torch-mlir cannot lower the model: {why or 'it does not say why'}",
        position=_at_line(position),
        op=operation,
        stage="import",
        hint=SPLIT,
    )


def importing_error(error: Exception, node: Node) -> HircError:
    """Returns the error for a node that torch-mlir's importer fails at."""
    name = getattr(node.target, "__name__", str(node.target))
    why = f"'{name}' has no lowering"
    # For functions that the importer does not know, its message is a dump of the node.
    if not isinstance(error, (NotImplementedError, AssertionError)):
        why = f"'{name}': {first_line(error)}"
    return UnsupportedError(
        f"torch-mlir cannot import the model: {why}",
        position=stack_position(node.meta.get("stack_trace") or ""),
        op=name,
        stage="import",
        hint=SPLIT,
    )


def _is_left(op: ir.Operation) -> bool:
    return op.name.startswith("torch") and not op.name.startswith(_GIVING)


def _torch_name(op: ir.Operation) -> str:
    """Returns the operation's name in torch."""
    name = ir.StringAttr(op.attributes["name"]).value if op.name == "torch.operator" else op.name
    return name.removeprefix("torch.")


def _at_line(position: Position | None) -> Position | None:
    """Returns a position whose column torch does not know."""
    return position and Position(position.file, position.line, max(position.column, 1))


def _violated(text: str) -> str:
    """Returns what of a long message says which sizes are wrong."""
    lines = [line.strip(" -") for line in text.splitlines() if line.strip()]
    # How one may see more of it, and functions that this is not about.
    return re.sub(
        r" For more information, run with \S+| If you're using .*", "", " ".join(lines[:2])
    )


def said_by(error: BaseException) -> str:
    """Returns the first line of what an exception says; with its type where that may be little."""
    said = first_line(error)
    if isinstance(error, (TypeError, ValueError, AttributeError, LookupError)):
        said = f"{type(error).__name__}: {said}"
    return said


def first_line(error: BaseException) -> str:
    """Returns the first line of what an exception says, its type where that is nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__

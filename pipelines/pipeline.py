"""Pipelines: their textual form, and the runner that takes a program through one.

A pipeline's text is MLIR's, `a,b{x=1},gpu.module(c,d)`, and may name hirc's passes and upstream's
side by side. It is flattened into steps of one pass each, so that printing, timing and stopping
work the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from weakref import WeakKeyDictionary

from ..dialects.hir.symbols import unchanged
from ..dialects.mlir import ir, passmanager
from ..dialects.records import dataclass
from .frame_names import named
from .pass_base import InvalidResult, Pass, PassFailure, find_pass, make_pass

# Upstream's passes and the operations that they have patterns for, as `Pass.subjects` has for
# other passes: those that take longer to find nothing than reading all operations' names takes.
# After a pass has run, the names are read again.
_UPSTREAM_SUBJECTS = {
    "convert-cf-to-llvm": ("cf.",),
    "convert-complex-to-llvm": ("complex.",),
    "convert-complex-to-standard": ("complex.",),
    "convert-index-to-llvm": ("index.",),
    "convert-math-to-libm": ("math.",),
    "convert-math-to-llvm": ("math.",),
    "convert-parallel-loops-to-gpu": ("scf.parallel",),
    "convert-scf-to-cf": ("scf.",),
    "convert-ub-to-llvm": ("ub.",),
    "gpu-launch-sink-index-computations": ("gpu.launch",),
    "lower-affine": ("affine.",),
    "math-extend-to-supported-types": ("math.",),
    "convert-vector-to-llvm": ("vector.",),
    "convert-vector-to-scf": (
        *("vector.transfer_read", "vector.transfer_write"),
        *("vector.print", "vector.transpose"),
    ),
    "expand-strided-metadata": (
        *("memref.subview", "memref.expand_shape", "memref.collapse_shape"),
        *("memref.extract_strided_metadata", "memref.extract_aligned_pointer_as_index"),
    ),
    "math-expand-ops{ops=clampf}": ("math.clampf",),
}
# What else there may be after a pass, as `Pass.makes` says of hirc's. After those that are not here
# the names are read again.
_TO_LLVM = ("llvm.", "builtin.", "arith.")
_UPSTREAM_MAKES = {
    "arith-emulate-unsupported-floats": ("arith.",),
    "arith-expand": ("arith.", "vector."),
    "convert-arith-to-llvm": _TO_LLVM,
    "convert-cf-to-llvm": _TO_LLVM,
    "convert-func-to-llvm": _TO_LLVM,
    "convert-index-to-llvm": _TO_LLVM,
    "convert-math-to-llvm": _TO_LLVM,
    "convert-scf-to-cf": ("cf.", "arith."),
    "expand-strided-metadata": ("affine.", "arith.", "memref."),
    "finalize-memref-to-llvm": _TO_LLVM,
    "math-extend-to-supported-types": ("arith.",),
    "reconcile-unrealized-casts": (),
}


class PipelineSyntaxError(ValueError):
    """A pipeline's text is malformed or names a pass or option that does not exist."""


@dataclass(frozen=True)
class Step:
    """One pass and the chain of operations it is anchored on, below builtin.module."""

    text: str
    anchors: tuple[str, ...] = ()
    own: Pass | None = None

    @property
    def pass_name(self) -> str:
        return self.text.partition("{")[0]

    @property
    def subjects(self) -> tuple[str, ...]:
        """What there has to be for the pass to do anything; empty where that is not known."""
        if self.own is not None:
            return self.own.subjects
        return _UPSTREAM_SUBJECTS.get(self.text) or _UPSTREAM_SUBJECTS.get(self.pass_name, ())

    @property
    def makes(self) -> tuple[str, ...] | None:
        """What else there may be after the pass; None where that is not known."""
        if self.own is not None:
            return self.own.makes
        return _UPSTREAM_MAKES.get(self.pass_name)

    def __str__(self) -> str:
        return "(".join([*self.anchors, self.text]) + ")" * len(self.anchors)

    def run(self, module: ir.Operation, *, verify: bool = True) -> bool:
        """Runs the pass on `module`. Raises PassFailure; diagnostics go to the context.

        With `verify`, raises InvalidResult where one of hirc's passes leaves invalid IR. Returns
        False where the pass says that it changed nothing.
        """
        if self.own is None:
            managers = _managers.setdefault(module.context, {})
            # What fails is not used again.
            manager = managers.pop(self, None) or self._manager(module.context)
            manager.enable_verifier(verify)
            try:
                named(f"pass '{self.pass_name}'", manager.run)(module)
            except ir.MLIRError as error:
                raise PassFailure(self.pass_name) from error
            managers[self] = manager
            return True
        has_changed = False
        with module.context, module.location:
            for op in _anchored(module, self.anchors):
                if named(f"pass '{self.pass_name}'", self.own.run)(op) is not False:
                    has_changed = True
        if has_changed and verify and not is_valid(module):
            raise InvalidResult(self.pass_name)
        return has_changed

    def _manager(self, context: ir.Context) -> passmanager.PassManager:
        return passmanager.PassManager.parse(f"builtin.module({self})", context)


# Upstream's passes, ready to run: canonicalize first collects the patterns of all operations, which
# takes longer than a small module does.
_managers: WeakKeyDictionary[ir.Context, dict[Step, passmanager.PassManager]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Stage:
    """A named stretch of a pipeline, from its text.

    The text is parsed, and the passes that it names are loaded, when the stage is first run or
    printed. `leaves` lists the dialects that may remain when it is done, per anchor: the boundary
    the runner checks. An empty tuple checks nothing. A stage with `when` is for the modules it
    holds for; others skip it. The module's operations of the name `spares` are no concern of its
    passes, which do not see them. What a `passing` stage leaves is verified with what the next one
    leaves.
    """

    name: str
    text: str
    leaves: tuple[str, ...] = ()
    within: str = "builtin.module"
    when: Callable[[ir.Operation], bool] | None = None
    spares: str = ""
    passing: bool = False

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Its passes, in order. Raises PipelineSyntaxError where the text is malformed."""
        return _parsed(self.text)

    def __str__(self) -> str:
        return ",".join(str(step) for step in self.steps)

    def applies_to(self, module: ir.Operation) -> bool:
        """Returns whether the stage is for this module."""
        return self.when is None or self.when(module)


@lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[Step, ...]:
    return tuple(parse_pipeline(text))


def pipeline_text(*elements: str | bool) -> str:
    """Returns the elements of a pipeline as its text, without those that are false."""
    return ",".join(each for each in elements if isinstance(each, str))


def parse_pipeline(text: str, context: ir.Context | None = None) -> list[Step]:
    """Parses a pipeline's text, with or without the outer `builtin.module(...)`.

    Lines that begin with `//` are comments; passes before and after one need no comma. With a
    context, upstream's passes and their options are checked too. Raises PipelineSyntaxError.
    """
    text = _without_comments(text).strip()
    if text.startswith("builtin.module(") and text.endswith(")"):
        text = text[len("builtin.module(") : -1]
    steps = list(_steps(text, ()))
    if context is not None:
        for step in steps:
            if step.own is None:
                _check_upstream(step, context)
    return steps


def run_steps(
    module: ir.Operation,
    steps: Sequence[Step],
    *,
    verify_each: bool = True,
    before: Callable[[Step], None] = lambda step: None,
    after: Callable[[Step], None] = lambda step: None,
) -> bool:
    """Runs steps in order, calling `before` and `after` around each. Returns whether any was run.

    One that finds nothing to do is not. Without `verify_each`, what they leave is verified by
    whoever calls.
    """
    present = _Present(module)
    any_ran = False
    for step in steps:
        before(step)
        if present.any_of(step):
            if step.run(module, verify=verify_each):
                present.update(step)
            any_ran = True
        after(step)
    return any_ran


class _Present:
    """The names of the operations in a module, and of those that passes may have made since."""

    def __init__(self, module: ir.Operation) -> None:
        self._module = module
        self._names: dict[tuple[str, ...], set[str]] = {}

    def any_of(self, step: Step) -> bool:
        """Returns whether there may be anything for a step to do."""
        subjects = step.subjects
        if not subjects:
            return True
        is_subject = partial(_is_one_of, subjects)
        names = self._names.get(step.anchors)
        if names is not None:
            return any(map(is_subject, names))
        names = set[str]()
        # After a pass that may make anything the names are read anew: then the first is enough.
        enough = is_subject if step.makes is None else None
        for op in _anchored(self._module, step.anchors):
            if _add_names(op, names, enough):
                return True
        self._names[step.anchors] = names
        return any(map(is_subject, names))

    def update(self, step: Step) -> None:
        """Says that a pass has run."""
        if step.makes is None:
            self._names.clear()
        for names in self._names.values():
            names.update(step.makes or ())


# A program has few names, and each pass looks all of them up.
@lru_cache(maxsize=1 << 14)
def _is_one_of(subjects: tuple[str, ...], name: str) -> bool:
    return any(_meet(name, subject) for subject in subjects)


def _meet(one: str, other: str) -> bool:
    """Returns whether two names, or beginnings of names that end with a dot or an underscore, have
    a name in common.
    """
    return (
        one == other
        or (one.endswith((".", "_")) and other.startswith(one))
        or (other.endswith((".", "_")) and one.startswith(other))
    )


def _add_names(
    root: ir.Operation, names: set[str], enough: Callable[[str], bool] | None = None
) -> bool:
    """Adds the names of the operations, up to the first that is `enough`; says whether one is."""
    ends = False
    # A look-up for each operation of a large module is a fifth of the walk.
    add, advance, interrupt = names.add, ir.WalkResult.ADVANCE, ir.WalkResult.INTERRUPT

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal ends
        name = op.name
        if name in names:
            return advance
        add(name)
        ends = enough is not None and enough(name)
        return interrupt if ends else advance

    root.walk(visit)
    return ends


@contextmanager
def set_aside(module: ir.Operation, name: str) -> Generator[None, None, None]:
    """Takes the operations called `name` out of a module's body; puts them back at its end."""
    block = module.regions[0].blocks[0]
    spared = [op for op in block if op.operation.name == name] if name else []
    for op in spared:
        op.operation.detach_from_parent()
    try:
        yield
    finally:
        for op in spared:
            block.append(op)


def is_valid(module: ir.Operation) -> bool:
    """Returns whether MLIR's verifier takes a module; diagnostics go to the context."""
    try:
        with unchanged():
            module.verify()
    except ir.MLIRError:
        return False
    return True


def foreign_op(module: ir.Operation, stage: Stage) -> ir.Operation | None:
    """The first operation of a dialect that should be gone after `stage`, or None."""
    if not stage.leaves:
        return None
    allowed = set(stage.leaves)
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.partition(".")[0] not in allowed:
            found.append(op)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    for root in _anchored(module, () if stage.within == "builtin.module" else (stage.within,)):
        for region in root.regions:
            for block in region:
                for op in block:
                    if stage.within == "builtin.module" and op.operation.name == "gpu.module":
                        continue
                    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
                    if found:
                        return found[0]
    return None


def _anchored(module: ir.Operation, anchors: tuple[str, ...]) -> Iterator[ir.Operation]:
    if not anchors:
        yield module
        return
    for region in module.regions:
        for block in region:
            for op in list(block):
                if op.operation.name == anchors[0]:
                    yield from _anchored(op.operation, anchors[1:])


def _without_comments(text: str) -> str:
    """The text without comment lines; a comment ends the pipeline element before it."""
    parts: list[str] = []
    for part in re.split(r"(?:^|(?<=[(,]))[ \t]*//.*$", text, flags=re.MULTILINE):
        part = part.strip()
        if not part:
            continue
        joined = not parts or parts[-1].endswith((",", "(")) or part.startswith((",", ")"))
        parts += [part] if joined else [",", part]
    return "".join(parts)


def _steps(text: str, anchors: tuple[str, ...]) -> Iterator[Step]:
    for element in _split(text):
        name, options, nested = _element(element)
        if not name:
            raise PipelineSyntaxError(f"a pass has no name in pipeline element '{element}'")
        if nested is not None:
            yield from _steps(nested, (*anchors, name))
        elif find_pass(name) is not None:
            try:
                own = make_pass(name, _options(options))
            except ValueError as error:
                raise PipelineSyntaxError(str(error)) from None
            yield Step(str(own), anchors, own)
        else:
            yield Step(f"{name}{{{options}}}" if options else name, anchors)


def _check_upstream(step: Step, context: ir.Context) -> None:
    try:
        passmanager.PassManager.parse(f"builtin.module({step})", context)
    except ValueError as error:
        lines = [line for line in str(error).splitlines() if "error:" in line]
        reason = lines[0].partition("error: ")[2] if lines else str(error)
        raise PipelineSyntaxError(f"in pipeline element '{step}': {reason}") from None


def _split(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for index, char in enumerate(text):
        if char in "({":
            depth += 1
        elif char in ")}":
            depth -= 1
            if depth < 0:
                raise PipelineSyntaxError(f"unbalanced '{char}' in pipeline '{text}'")
        elif char == "," and depth == 0:
            yield text[start:index].strip()
            start = index + 1
    if depth:
        raise PipelineSyntaxError(f"a bracket is not closed in pipeline '{text}'")
    if text[start:].strip():
        yield text[start:].strip()


def _element(text: str) -> tuple[str, str, str | None]:
    brace, paren = text.find("{"), text.find("(")
    if paren >= 0 and (brace < 0 or paren < brace):
        if not text.endswith(")"):
            raise PipelineSyntaxError(f"text after ')' in pipeline element '{text}'")
        return text[:paren].strip(), "", text[paren + 1 : -1]
    if brace >= 0:
        if not text.endswith("}"):
            raise PipelineSyntaxError(f"text after '}}' in pipeline element '{text}'")
        return text[:brace].strip(), text[brace + 1 : -1].strip(), None
    return text.strip(), "", None


def _options(text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        options[key] = value if equals else "true"
    return options

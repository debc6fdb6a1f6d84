"""Runs the stages of a pipeline over a module, with printing, timing and error messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from time import perf_counter

from ..dialects.mlir import ir
from ..dialects.records import dataclass
from ..pipelines.frame_names import named
from ..pipelines.pass_base import InvalidResult, PassFailure
from ..pipelines.pipeline import Stage, Step, foreign_op, is_valid, run_steps, set_aside
from . import activity, trace
from .diagnostics import stage_error
from .errors import InputError, InternalError, UnsupportedError
from .session import Session, position_of
from .timing import Timer

_OF_TENSORS = ("tensor", "bufferization", "linalg", "tosa", "shape", "sparse_tensor")
_TAKEN = (
    *("func", "arith", "math", "complex", "index", "cf", "scf", "affine", "memref", "vector"),
    *("ub", "gpu", "nvgpu", "nvvm", "llvm", "builtin", "async", "transform", "hir", "offload"),
)


@dataclass
class IrPrinter:
    """--print-ir-after: `all`, `changed`, or a pass's name; prints to standard error."""

    after: str | None
    _last: str | None = field(default=None)

    def begin(self, steps: Iterable[Step], module: ir.Operation) -> None:
        """Takes note of the module before the first of `steps`.

        Raises InputError where `after` names a pass that none of them is.
        """
        if self.after == "changed":
            self._last = str(module)
        if self.after in (None, "all", "changed"):
            return
        if self.after not in {step.pass_name for step in steps}:
            raise InputError(
                f"there is no pass '{self.after}' in the pipeline",
                hint="--print-ir-after takes all, changed, or a pass that --print-pipeline shows",
            )

    def __call__(self, step: Step, module: ir.Operation) -> None:
        if self.after is None:
            return
        if self.after not in ("all", "changed", step.pass_name):
            return
        text = str(module)
        if self.after == "changed" and text == self._last:
            sys.stderr.write(f"// ----- {step} changed nothing -----\n")
            return
        self._last = text
        sys.stderr.write(f"// ----- IR after {step} -----\n{text}\n")


@dataclass
class StageRun:
    """Stages on their way over a module: each is run, and what it leaves is checked.

    It ends after `stop_after`, the stage of that name. What stages leave is verified, of `passing`
    ones together; with `verify_each`, what each pass leaves is. `each` is called with a stage's
    name when it is done. Raises InputError where the options name a stage or pass that there is
    none of.
    """

    module: ir.Operation
    stages: Sequence[Stage]
    session: Session
    timer: Timer
    stop_after: str | None = None
    print_after: str | None = None
    verify_each: bool = False
    each: Callable[[str], None] = lambda stage: None

    def __post_init__(self) -> None:
        names = [stage.name for stage in self.stages]
        if self.stop_after is not None and self.stop_after not in names:
            raise InputError(
                f"there is no stage '{self.stop_after}'", hint=f"stages: {', '.join(names)}"
            )
        self._printer = IrPrinter(self.print_after)
        self._printer.begin((step for stage in self.stages for step in stage.steps), self.module)
        end = len(names) if self.stop_after is None else names.index(self.stop_after) + 1
        self._left = list(self.stages)[:end]
        self._unverified: list[str] = []

    @property
    def has_ended(self) -> bool:
        return not self._left

    def advance(self, before: str | None = None) -> None:
        """Runs what is left, up to the stage named.

        Raises InputError or UnsupportedError with the stage and the op.
        """
        while self._left and self._left[0].name != before:
            stage = self._left.pop(0)
            if not stage.applies_to(self.module):
                continue
            with self.timer.phase(f"stage {stage.name}"):
                any_ran = run_stage(
                    self.module, stage, self.session, self._printer, verify_each=self.verify_each
                )
                if any_ran and not self.verify_each:
                    self._unverified.append(stage.name)
                if not stage.passing:
                    self._verify()
            self.each(stage.name)
        self._verify()

    def _verify(self) -> None:
        """Verifies what the stages since the last time have left."""
        stages, self._unverified = self._unverified, []
        if not stages:
            return
        activity.enter(stages[-1], "the verifier")
        if not is_valid(self.module):
            raise _invalid(
                "one of the passes",
                "' or '".join(stages),
                self.session,
                hint="--verify-each names the pass",
            )
        self.session.take_diagnostics()


def run_stage(
    module: ir.Operation,
    stage: Stage,
    session: Session,
    printer: IrPrinter,
    *,
    verify_each: bool,
) -> bool:
    """Runs one stage and checks its boundary. Returns whether any of its passes was run."""
    current: list[Step] = []
    began = perf_counter()

    def before(step: Step) -> None:
        nonlocal began
        current.append(step)
        followed = step.own.follows(module) if step.own is not None else None
        activity.enter(
            stage.name,
            f"pass '{step.pass_name}'",
            input="the schedule" if followed is not None else None,
            place=position_of(followed.location) if followed is not None else None,
        )
        began = perf_counter()

    def after(step: Step) -> None:
        trace.add(step.pass_name, "pass", began)
        printer(step, module)

    try:
        # What is printed is whole.
        with set_aside(module, stage.spares if printer.after is None else ""):
            any_ran = named(f"stage '{stage.name}'", run_steps)(
                module,
                stage.steps,
                verify_each=verify_each,
                before=before,
                after=after,
            )
    except PassFailure as failure:
        found = session.take_diagnostics()
        raise stage_error(found, stage.name, current[-1].pass_name) from failure
    except InvalidResult as failure:
        raise _invalid(f"pass '{failure}'", stage.name, session) from failure
    session.take_diagnostics()
    left = foreign_op(module, stage)
    if left is not None:
        raise UnsupportedError(
            f"'{left.name}' is left after stage '{stage.name}': nothing lowers it",
            position=position_of(left.location),
            op=left.name,
            stage=stage.name,
            hint=_way_out(left.name.partition(".")[0]),
        )
    return any_ran


def _way_out(dialect: str) -> str:
    """Returns what to do about an operation that is left."""
    if dialect in _OF_TENSORS:
        return (
            "tensors are compiled in functions that take or return some: give the function such an "
            "argument or result, or bufferize the module first (hirc-opt --one-shot-bufferize)"
        )
    if dialect not in _TAKEN:
        return (
            f"hirc does not take the dialect '{dialect}': lower it first, with hirc-opt and one of "
            "upstream's passes (docs/gpu-programs.md lists the dialects)"
        )
    return "--print-ir-after=changed shows the program up to there"


def _invalid(
    culprit: str, stage: str, session: Session, *, hint: str | None = None
) -> InternalError:
    found = session.take_diagnostics()
    return InternalError(
        f"{culprit} made invalid IR: {found[0].message if found else 'no message'}",
        position=found[0].position if found else None,
        stage=stage,
        hint=hint,
    )

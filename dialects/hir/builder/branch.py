"""The branch of a program that is being built: its two sides and what they give."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

from ...mlir import ir
from ...records import dataclass
from .buffer import Buffer
from .caller import Place, calling_place
from .errors import BuildError
from .scalar import Scalar
from .sizes import Extent, Size, terms_of
from .values import Values

Value: TypeAlias = "Buffer | Scalar | Size | int"
_SIDES = ("then", "otherwise")


@dataclass(frozen=True)
class _Output:
    """What a side gives: the value, MLIR's, and where it was said."""

    value: Value
    operand: ir.Value
    place: Place


class Branch:
    """`with branch.then:` and `with branch.otherwise:` hold what the two sides do.

    Each may give values with `output`, as many and of the same types as the other. After the branch
    `results` are those of the side that ran, and `result` is the only one.
    """

    def __init__(self, program: Values, op: ir.Operation) -> None:
        self._program = program
        self._op = op
        self._current: list[_Output] | None = None
        self._outputs: dict[str, list[_Output]] = {side: [] for side in _SIDES}
        self._written: set[str] = set()
        self._results: tuple[Any, ...] | None = None

    @property
    def then(self) -> Any:
        """What runs where the condition holds."""
        return self._side("then")

    @property
    def otherwise(self) -> Any:
        """What runs where it does not."""
        return self._side("otherwise")

    def output(self, *values: Value) -> None:
        """Gives values out of this side of the branch."""
        if self._current is None:
            raise BuildError(
                "an output of a branch is given by one of its sides",
                "write it inside `with branch.then:` and `with branch.otherwise:`",
            )
        for value in values:
            operand = self._program.any_value(value, "the output")
            self._current.append(_Output(value, operand, calling_place()))

    @property
    def results(self) -> tuple[Any, ...]:
        """What the side that ran gave."""
        if self._results is None:
            raise BuildError("the results of a branch are there after its `with`")
        return self._results

    @property
    def result(self) -> Any:
        """The one value that the side that ran gave."""
        if len(self.results) != 1:
            raise BuildError(
                f"the branch gives {len(self.results)} values", "`branch.results` has them all"
            )
        return self.results[0]

    @contextmanager
    def _side(self, side: str) -> Generator[None, None, None]:
        if side in self._written or self._results is not None:
            raise BuildError(f"`with branch.{side}:` stands once, within `with p.branch(...)`")
        self._written.add(side)
        program = self._program
        block = self._op.regions[_SIDES.index(side)].blocks[0]
        outputs = self._outputs[side]
        with program.inside(block, f"the branch's `{side}`"):
            self._current = outputs
            try:
                yield
            finally:
                self._current = None
            for output in outputs:
                program.emit("hir.output", [output.operand], place=output.place)

    def check(self) -> None:
        """Raises BuildError where the sides do not give as many outputs."""
        then, otherwise = (len(self._outputs[side]) for side in _SIDES)
        if then != otherwise:
            raise BuildError(
                f"both sides of a branch give as many outputs; `then` gives {then}, `otherwise` "
                f"{otherwise}"
            )

    def take_results(self) -> None:
        """Writes what takes the results out, after the branch."""
        program = self._program
        then, otherwise = (self._outputs[side] for side in _SIDES)
        results: list[Any] = []
        for number, (output, other) in enumerate(zip(then, otherwise, strict=True)):
            index = {"index": program.integer(number)}
            given = output.operand.type
            result = program.value("hir.result", [self._op.results[0]], given, index)
            here, there = output.value, other.value
            if isinstance(here, Buffer) and isinstance(there, Buffer):
                sizes = [self._common(*pair) for pair in zip(here.shape, there.shape, strict=True)]
                results.append(program.new_buffer(result, sizes))
            else:
                results.append(program.new_scalar(result, "the branch's result"))
        self._results = tuple(results)

    def _common(self, here: Extent, there: Extent) -> Extent | None:
        """Returns a size of both sides, where it is the same and known outside of them."""
        same = terms_of(here) == terms_of(there)
        return here if same and self._program.is_visible(here) else None

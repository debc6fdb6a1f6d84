"""Programs that schedules are tested with: fused linalg operations, and functions on tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch

Sizes = Mapping[str, int]
# Takes the inputs, floats in float64; gives the outputs, a tensor or several. Each number of inputs
# is listed for the type checker to know what a lambda takes.
Reference = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
)


@dataclass(frozen=True)
class Spec:
    """An operand: `f32[r, c + 1]` is a buffer indexed by loops, `f32` a scalar.

    In sizes and maps any affine expression of loops may stand; that of a size is the index's
    greatest value and one. A number is an index in a map; where there is none, it is a size.
    """

    text: str
    has_map: bool = True

    @property
    def element(self) -> str:
        return self.text.partition("[")[0].strip()

    @property
    def is_scalar(self) -> bool:
        return "[" not in self.text

    @property
    def places(self) -> list[str]:
        inside = self.text.partition("[")[2].rstrip(" ]")
        return [part.strip() for part in inside.split(",") if part.strip()]

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """The buffer's sizes where the loops have those."""
        return tuple(
            int(place) if place.isdecimal() and not self.has_map else _size(place, sizes)
            for place in self.places
        )

    def type(
        self, sizes: Sizes | None = None, *, packed: bool = False, known: Sizes | None = None
    ) -> str:
        """The buffer's type: its sizes open unless given or known, its strides unless packed."""
        if self.is_scalar:
            return self.element
        open_ = [str((known or {}).get(place, "?")) for place in self.places]
        shape = open_ if sizes is None else map(str, self.shape(sizes))
        strides = ", ".join("?" * len(self.places))
        layout = "" if packed else f", strided<[{strides}], offset: ?>"
        return f"memref<{''.join(f'{size}x' for size in shape)}{self.element}{layout}>"


def _size(place: str, sizes: Sizes) -> int:
    names = {name: size - 1 for name, size in sizes.items()}
    if any(names[name] < 0 for name in re.findall(r"[a-z]\w*", place)):
        return 0
    return int(eval(place, {"__builtins__": {}}, names)) + 1


@dataclass(frozen=True)
class Program:
    """One program, the sizes it is run with, and what it must give.

    Its `inputs` and `outputs` say how the operands are shaped. `ranges` has, for inputs of
    indices, the loop (or the number) that they are below. `magnitude` is what errors of the
    computing type are relative to beside the results: for sums of n numbers near zero, sqrt(n) or
    more. `tolerance` multiplies all bounds, and `tolerance_on_gpu` those of a run on a GPU.
    `special` also runs with nan, infinities and zeros. `fixed` has sizes for which a second
    program, with all sizes in its types, is built too; without `sizes` those are all.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reference: Reference
    sizes: tuple[Sizes, ...]
    ranges: Mapping[int, str | int] = field(default_factory=dict[int, str | int])
    magnitude: float = 0.0
    tolerance: float = 1.0
    tolerance_on_gpu: float = 1.0
    special: bool = False
    fixed: tuple[Sizes, ...] = ()

    def wanted(self, inputs: Sequence[Any]) -> list[torch.Tensor]:
        """The reference's outputs."""
        found = cast(Callable[..., Any], self.reference)(*inputs)
        return [found] if isinstance(found, torch.Tensor) else list(found)

    @property
    def given(self) -> list[Spec]:
        """Every input."""
        return list(map(Spec, self.inputs))

    @property
    def results(self) -> list[Spec]:
        """Every output."""
        return list(map(Spec, self.outputs))

    def text(self, name: str, sizes: Sizes | None, *, packed: bool) -> str:
        """The program's text under a name; with static sizes where they are given."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Fused(Program):
    """A host program of one linalg.generic on buffers that are all handed in.

    `loops` names the loops, as `r, c`; `reduced` those that are reductions. `body` is the text of
    the region on `%x0`, `%x1`, ... and `%y0`, ...; `before` stands before the operation, where
    the buffers are `%in0`, ... and `%out0`, ... `captured` are further inputs, `%cap0`, ..., which
    are no operands and which the body may use, their types as CAP0, .... It `asks` for a
    configuration, `family = "pointwise", width = 2`. Types have the sizes of loops that are
    `known` even where others are open.
    """

    loops: str
    body: str
    reduced: str = ""
    before: str = ""
    captured: tuple[str, ...] = ()
    asks: str = ""
    known: Sizes = field(default_factory=dict[str, int])

    @property
    def given(self) -> list[Spec]:
        captured = [Spec(text, has_map=False) for text in self.captured]
        return [*map(Spec, self.inputs), *captured]

    def text(self, name: str, sizes: Sizes | None, *, packed: bool) -> str:
        specs = [Spec(text) for text in (*self.inputs, *self.outputs)]
        captured = [Spec(text, has_map=False).type(sizes, packed=packed) for text in self.captured]
        counts = len(self.inputs), len(self.outputs)
        names = [f"in{number}" for number in range(counts[0])]
        names += [f"out{number}" for number in range(counts[1])]
        kinds = [spec.type(sizes, packed=packed, known=self.known) for spec in specs]
        inside = [f"x{number}" for number in range(counts[0])]
        inside += [f"y{number}" for number in range(counts[1])]
        reduced = _names(self.reduced)
        iterators = [
            '"reduction"' if loop in reduced else '"parallel"' for loop in _names(self.loops)
        ]
        maps = [f"affine_map<({self.loops}) -> ({', '.join(spec.places)})>" for spec in specs]

        def listed(first: int, last: int) -> str:
            values = ", ".join(f"%{each}" for each in names[first:last])
            return f"({values} : {', '.join(kinds[first:last])})"

        taken = [*names[: counts[0]], *(f"cap{number}" for number in range(len(captured)))]
        all_kinds = [*kinds[: counts[0]], *captured, *kinds[counts[0] :]]
        arguments = ", ".join(
            f"%{each}: {kind}"
            for each, kind in zip([*taken, *names[counts[0] :]], all_kinds, strict=True)
        )
        elements = ", ".join(
            f"%{each}: {spec.element}" for each, spec in zip(inside, specs, strict=True)
        )
        body = self.body
        for number, kind in enumerate(captured):
            body = body.replace(f"CAP{number}", kind)
        ins = f"ins{listed(0, counts[0])} " if counts[0] else ""
        asked = f"attrs = {{hir.configuration = {{{self.asks}}}}} " if self.asks else ""
        return f"""
"hir.program"() ({{
^bb0({arguments}):
  {self.before}
  linalg.generic {{indexing_maps = [{", ".join(maps)}],
      iterator_types = [{", ".join(iterators)}]}}
      {ins}outs{listed(counts[0], len(specs))} {asked}{{
  ^bb0({elements}):
    {body}
  }}
}}) {{sym_name = "{name}", function_type = ({", ".join(all_kinds)}) -> ()}} : () -> ()
"""


@dataclass(frozen=True, kw_only=True)
class Written(Program):
    """A program whose text is written out, with `@NAME` (or "NAME") for its name.

    It returns its outputs: a func.func on tensors, or a hir.program. Its inputs are packed.
    """

    source: str

    @property
    def given(self) -> list[Spec]:
        return [Spec(text, has_map=False) for text in self.inputs]

    @property
    def results(self) -> list[Spec]:
        return [Spec(text, has_map=False) for text in self.outputs]

    def text(self, name: str, sizes: Sizes | None, *, packed: bool) -> str:
        del sizes, packed
        return self.source.replace("NAME", name)


def f8_on_gpu(terms: int) -> float:
    """How many times a bound a GPU's sums of f8 may be off: other bounds are 4e-6 of the greatest.

    An instruction adds 32 terms to a sum, and cuts off what lies below 2^-13 of the greatest.
    """
    return -(-terms // 32) * 2**-13 / 4e-6


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def reduce_loops(result: str, kind: str, value: str, element: str, *loops: int) -> str:
    """A line of a body: `%m = hir.reduce_loops ...`."""
    numbers = ", ".join(map(str, loops))
    attributes = f'{{kind = "{kind}", loops = array<i64: {numbers}>}}'
    return f'{result} = "hir.reduce_loops"({value}) {attributes} : ({element}) -> {element}\n'


def find_loops(extreme: str, place: str, kind: str, value: str, element: str, *loops: int) -> str:
    """A line of a body: `%m, %i = hir.find_loops ...`."""
    numbers = ", ".join(map(str, loops))
    attributes = f'{{kind = "{kind}", loops = array<i64: {numbers}>}}'
    types = f"({element}) -> ({element}, i64)"
    return f'{extreme}, {place} = "hir.find_loops"({value}) {attributes} : {types}\n'


def scan_loop(result: str, kind: str, value: str, element: str, loop: int, *flags: str) -> str:
    """A line of a body: `%p = hir.scan_loop ...`; flags are `reverse` and `exclusive`."""
    units = "".join(f", {flag}" for flag in flags)
    attributes = f'{{kind = "{kind}", loop = {loop} : i64{units}}}'
    return f'{result} = "hir.scan_loop"({value}) {attributes} : ({element}) -> {element}\n'

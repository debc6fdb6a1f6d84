"""Random fused operations on whole numbers, with what they must give."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from schedules.programs import Fused, Sizes, find_loops, reduce_loops, scan_loop

# A value in every iteration: a tensor with a dim a loop, of size 1 where it is uniform.
Value = torch.Tensor

_PLAIN: dict[str, Callable[[Value, Value], Value]] = {
    "addi": torch.add,
    "subi": torch.sub,
    "muli": torch.mul,
    "maxsi": torch.maximum,
    "xori": torch.bitwise_xor,
}
_LOWEST = torch.iinfo(torch.int64).min
_LOOPS = ("a", "b", "c")


@dataclass
class _Region:
    """A region being written: the names of its values, the loops that each depends on, its text.

    `steps` compute the values again, from the loops' sizes and the values before.
    """

    random: random.Random
    names: list[str] = field(default_factory=list[str])
    depends: list[frozenset[int]] = field(default_factory=list[frozenset[int]])
    steps: list[Callable[[list[Value], list[int]], Value]] = field(
        default_factory=list[Callable[[list[Value], list[int]], Value]]
    )
    text: str = ""

    def add(
        self, text: str, depends: frozenset[int], step: Callable[[list[Value], list[int]], Value]
    ) -> None:
        name = f"%v{len(self.names)}"
        self.text += text.replace("RESULT", name) + "\n"
        self.names.append(name)
        self.depends.append(depends)
        self.steps.append(step)

    def pick(self) -> int:
        """A value so far, rather a late one."""
        return max(self.random.randrange(len(self.names)) for _ in range(2))

    def grow(self, loops: list[int]) -> None:
        """Adds one operation; the collective ones go along some of the loops."""
        choice, one = self.random.random(), self.pick()
        if choice < 0.4:
            kind, other = self.random.choice(list(_PLAIN)), self.pick()
            text = f"RESULT = arith.{kind} {self.names[one]}, {self.names[other]} : i64"
            apply = _PLAIN[kind]
            self.add(
                text,
                self.depends[one] | self.depends[other],
                lambda values, _: apply(values[one], values[other]),
            )
        elif choice < 0.5:
            loop = self.random.randrange(len(_LOOPS))
            number = len(self.names)
            text = f"%i{number} = linalg.index {loop} : index\n"
            text += f"RESULT = arith.index_cast %i{number} : index to i64"
            self.add(text, frozenset([loop]), lambda _, sizes: _along(loop, sizes))
        elif choice < 0.7:
            over = sorted(self.random.sample(loops, self.random.randint(1, len(loops))))
            kind = self.random.choice(("addi", "maxsi"))
            text = reduce_loops("RESULT", kind, self.names[one], "i64", *over)
            self.add(
                text,
                self.depends[one] - set(over),
                lambda values, sizes: _reduced(kind, _spread(values[one], over, sizes), over),
            )
        elif choice < 0.8:
            over = self.random.sample(loops, self.random.randint(1, len(loops)))
            text = find_loops(
                f"%m{len(self.names)}", "RESULT", "maxsi", self.names[one], "i64", *over
            )
            self.add(
                text,
                self.depends[one] - set(over),
                lambda values, sizes: _place(_spread(values[one], over, sizes), over),
            )
        else:
            loop = self.random.choice(loops)
            kind = self.random.choice(("addi", "maxsi"))
            flags = [flag for flag in ("exclusive", "reverse") if self.random.random() < 0.4]
            text = scan_loop("RESULT", kind, self.names[one], "i64", loop, *flags)
            self.add(
                text,
                self.depends[one] | {loop},
                lambda values, sizes: _scanned(
                    kind, _spread(values[one], [loop], sizes), loop, flags
                ),
            )


def random_region(seed: int) -> Fused:
    """A fused operation over three loops, the same for the same number."""
    source = random.Random(seed)
    loops = sorted(source.sample(range(3), source.randint(1, 3)))
    region = _Region(source)
    inputs: list[list[int]] = []
    for number in range(source.randint(1, 3)):
        axes = source.sample(range(3), source.randint(1, 3)) if number else [0, 1, 2]
        source.shuffle(axes)
        inputs.append(axes)
        region.names.append(f"%x{number}")
        region.depends.append(frozenset(axes))
    for _ in range(source.randint(3, 9)):
        region.grow(loops)
    while '"hir.' not in region.text:
        region.grow(loops)
    yielded = [len(region.names) - 1, *(region.pick() for _ in range(source.randint(0, 2)))]
    # Loops that are not collective have elements of their own in every output.
    outputs = [
        sorted({axis for axis in range(3) if axis not in loops} | region.depends[value])
        for value in yielded
    ]
    for axes in outputs:
        source.shuffle(axes)

    def reference(*given: torch.Tensor) -> list[torch.Tensor]:
        whole = given[0].permute([inputs[0].index(axis) for axis in range(3)])
        sizes = list(whole.shape)
        values = [_placed(x, axes) for x, axes in zip(given, inputs, strict=True)]
        for step in region.steps:
            values.append(step(values, sizes))
        return [
            _taken(values[value], axes, sizes) for value, axes in zip(yielded, outputs, strict=True)
        ]

    values = ", ".join(region.names[value] for value in yielded)
    return Fused(
        f"random_{seed}",
        tuple(_spec(axes) for axes in inputs),
        tuple(_spec(axes) for axes in outputs),
        reference,
        _SIZES,
        loops=", ".join(_LOOPS),
        reduced=", ".join(_LOOPS[loop] for loop in loops),
        body=f"{region.text}linalg.yield {values} : {', '.join(['i64'] * len(yielded))}",
    )


_SIZES: tuple[Sizes, ...] = (
    {"a": 3, "b": 4, "c": 5},
    {"a": 1, "b": 7, "c": 2},
    {"a": 2, "b": 0, "c": 3},
    {"a": 4, "b": 3, "c": 0},
    {"a": 5, "b": 2, "c": 33},
)


def _spec(axes: Sequence[int]) -> str:
    return f"i64[{', '.join(_LOOPS[axis] for axis in axes)}]"


def _placed(x: torch.Tensor, axes: list[int]) -> Value:
    """An operand as a value in every iteration."""
    ordered = x.permute([axes.index(axis) for axis in sorted(axes)])
    for axis in range(3):
        if axis not in axes:
            ordered = ordered.unsqueeze(axis)
    return ordered


def _taken(value: Value, axes: list[int], sizes: list[int]) -> torch.Tensor:
    """An output of a value: its dims in the output's order."""
    for axis in axes:
        value = _spread(value, [axis], sizes)
    return value.permute([*axes, *(axis for axis in range(3) if axis not in axes)]).reshape(
        [sizes[axis] for axis in axes]
    )


def _along(loop: int, sizes: list[int]) -> Value:
    shape = [1, 1, 1]
    shape[loop] = sizes[loop]
    return torch.arange(sizes[loop]).reshape(shape)


def _spread(value: Value, loops: Sequence[int], sizes: list[int]) -> Value:
    shape = list(value.shape)
    for loop in loops:
        shape[loop] = sizes[loop]
    return value.expand(shape)


def _reduced(kind: str, value: Value, loops: list[int]) -> Value:
    if kind == "addi":
        return value.sum(loops, keepdim=True)
    low = torch.full(
        [1 if axis in loops else size for axis, size in enumerate(value.shape)], _LOWEST
    )
    return value.amax(loops, keepdim=True) if value.numel() else low


def _place(value: Value, loops: list[int]) -> Value:
    kept = [axis for axis in range(3) if axis not in loops]
    shape = [1 if axis in loops else size for axis, size in enumerate(value.shape)]
    rows = value.permute([*kept, *loops])
    rows = rows.reshape(
        [*rows.shape[: len(kept)], rows[(0,) * len(kept)].numel()]
        if value.numel()
        else [*rows.shape[: len(kept)], 0]
    )
    if rows.shape[-1] == 0:
        return torch.zeros(shape, dtype=torch.int64)
    places = torch.arange(rows.shape[-1])
    first = torch.where(rows == rows.amax(-1, keepdim=True), places, rows.shape[-1]).amin(-1)
    return first.reshape(shape)


def _scanned(kind: str, value: Value, loop: int, flags: list[str]) -> Value:
    if value.shape[loop] == 0:
        return value
    ordered = value.flip(loop) if "reverse" in flags else value
    if kind == "addi":
        found, neutral = ordered.cumsum(loop), 0
    else:
        found, neutral = torch.cummax(ordered, loop).values, _LOWEST
    if "exclusive" in flags:
        first = torch.full_like(found.narrow(loop, 0, 1), neutral)
        found = torch.cat([first, found.narrow(loop, 0, found.shape[loop] - 1)], loop)
    return found.flip(loop) if "reverse" in flags else found

"""Random whole programs, written with the builder: views of views, updates in place, loops,
branches, calls, streams, memory that the program itself frees and reuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import Any

from hirc.dialects.hir.builder import steps
from hirc.dialects.hir.builder.buffer import Buffer
from hirc.dialects.hir.builder.module import Module
from hirc.dialects.hir.builder.program import Program
from hirc.dialects.hir.builder.scalar import Scalar

_FLOATS = ("f32", "f16", "bf16", "f64")
_ELEMENTS = ("f32", *_FLOATS, "i32", "i8", "ui8", "i64")
_SCALARS = ("f32", "f64", "f16", "i32", "i64", "index")
_KINDS = ("abs", "sign", "relu")
_PAIRS = ("sub", "mul", "min", "max")


@dataclass(frozen=True)
class Input:
    """An input: its sizes where it is a buffer, None of a scalar, and its element type."""

    sizes: tuple[int, ...] | None
    element: str


@dataclass(frozen=True)
class Written:
    """A program, its inputs, and the outputs that nothing else is made from."""

    program: Program
    inputs: tuple[Input, ...]
    free_outputs: frozenset[int]


@dataclass(frozen=True)
class _Life:
    """One life of memory, and how deep in loops and branches it began; -1 is an input's."""

    number: int
    depth: int


@dataclass(frozen=True)
class _Item:
    """A buffer, its sizes when the program runs, and whose memory it may be in."""

    buffer: Buffer
    sizes: tuple[int, ...]
    lives: frozenset[_Life]
    is_packed: bool = False
    repeats: bool = False

    @property
    def element(self) -> str:
        return self.buffer.element


@dataclass
class Writer:
    """Writes programs of one module; sizes named in `sizes` are open in it."""

    random: Random
    module: Module
    sizes: dict[str, int]
    written: list[Written] = field(default_factory=list[Written])
    items: list[_Item] = field(default_factory=list[_Item])
    scalars: list[Any] = field(default_factory=list[Any])
    depth: int = 0
    lives: int = 0

    def write(self) -> Written:
        """One more program."""
        self.items, self.scalars, inputs = [], [], list[Input]()
        with self.module.program(f"p{len(self.written)}") as self.p:
            for number in range(self.random.randint(1, 3)):
                inputs.append(self._input(f"x{number}"))
            for element in self.random.sample(_SCALARS, self.random.randint(0, 2)):
                self.scalars.append(self.p.scalar(element, element))
                inputs.append(Input(None, element))
            caller = self.p.current_stream()
            self._block(self.random.randint(5, 12))
            caller.wait(self.p.current_stream())
            self.p.set_stream(caller)
            free = self._outputs()
        self.written.append(Written(self.p, tuple(inputs), free))
        return self.written[-1]

    def _input(self, name: str) -> Input:
        shape = [self._size() for _ in range(self.random.choice((0, 1, 2, 2, 3, 6)))]
        element = self.random.choice(_ELEMENTS)
        buffer = self.p.input(name, [size for size, _ in shape], element)
        sizes = tuple(size for _, size in shape)
        self.items.append(_Item(buffer, sizes, frozenset([self._life(-1)]), is_packed=True))
        return Input(sizes, element)

    def _size(self) -> tuple[int | str, int]:
        if self.random.random() < 0.5:
            name = self.random.choice(list(self.sizes))
            return name, self.sizes[name]
        size = self.random.choice((0, 1, 2, 3, 5))
        return size, size

    def _outputs(self) -> frozenset[int]:
        """Copies, whose strides are the caller's choice, and whatever else there is."""
        count = self.random.randint(1, 3)
        for number in range(count):
            self.p.output(f"copy{number}", self._any().buffer.copy())
        owned = [item for item in self.items if len(item.lives) == 1]
        for number in range(self.random.randint(0, 3)):
            self.p.output(f"o{number}", self.random.choice(owned).buffer)
        if self.scalars:
            self.p.output("scalar", self.random.choice(self.scalars))
        return frozenset(range(count))

    def _block(self, count: int) -> None:
        flat: list[Callable[[], None]] = [
            self._unary,
            self._binary,
            self._reduce,
            self._view,
            self._view,
            self._set,
        ]
        flat += [self._in_place, self._convert, self._allocate, self._end_life, self._matmul]
        nested: list[Callable[[], None]] = [
            self._loop,
            self._branch,
            self._on_stream,
            self._call,
            self._spread,
        ]
        for _ in range(count):
            actions = [*flat, *flat, *nested] if self.depth < 2 else flat
            self.random.choice(actions)()

    def _any(self, fits: Callable[[_Item], bool] = lambda item: True) -> _Item:
        """An item that fits; a fresh one where none does."""
        found = [item for item in self.items if fits(item)]
        return self.random.choice(found) if found else self._constant()

    def _constant(self) -> _Item:
        item = self._fresh(self.p.allocate((2, 3), "f32"), (2, 3))
        self.p.set(0.5, out=item.buffer)
        return item

    def _life(self, depth: int) -> _Life:
        self.lives += 1
        return _Life(self.lives, depth)

    def _fresh(self, buffer: Buffer, sizes: tuple[int, ...], *, packed: bool = True) -> _Item:
        self.items.append(_Item(buffer, sizes, frozenset([self._life(self.depth)]), packed))
        return self.items[-1]

    def _like(self, x: _Item, apart: bool = False) -> _Item:
        return self._any(
            lambda item: (
                (item.sizes, item.element) == (x.sizes, x.element)
                and not (apart and item.lives & x.lives)
            )
        )

    def _unary(self) -> None:
        x = self._any()
        kind = self.random.choice(_KINDS)
        self._fresh(self.p.compute_kind(kind, x.buffer), x.sizes)

    def _binary(self) -> None:
        x = self._any()
        y = self._like(x)
        numbers = [2, *self.scalars]
        if self.random.random() < 0.3:
            number = self.random.choice(numbers)
            is_fit = isinstance(number, Scalar) and number.type == x.element
            self._fresh(self.p.minimum(x.buffer, number if is_fit else 1), x.sizes)
        elif y.sizes == x.sizes and y.element == x.element:
            kind = self.random.choice(_PAIRS)
            self._fresh(self.p.compute_kind(kind, x.buffer, y.buffer), x.sizes)

    def _convert(self) -> None:
        x = self._any()
        small = self.p.clamp(x.buffer, 0, 3)
        self._fresh(small.cast(self.random.choice(_ELEMENTS)), x.sizes)

    def _reduce(self) -> None:
        x = self._any(lambda item: prod(item.sizes) > 0 and bool(item.sizes))
        axes = sorted(self.random.sample(range(len(x.sizes)), self.random.randint(1, len(x.sizes))))
        kept = tuple(size for axis, size in enumerate(x.sizes) if axis not in axes)
        kind = self.random.choice(("max", "min", "sum"))
        self._fresh(self.p.reduce(kind, x.buffer, axes, element=x.element), kept)

    def _matmul(self) -> None:
        x = self._any(lambda item: len(item.sizes) == 2)
        k, n = x.sizes
        y = self._any(lambda item: (item.sizes, item.element) == ((n, k), x.element))
        if (y.sizes, y.element) == ((n, k), x.element):
            self._fresh(self.p.minimum(self.p.matmul(x.buffer, y.buffer), 9), (k, k))

    def _view(self) -> None:
        x = self._any()
        rank, buffer = len(x.sizes), x.buffer
        choice = self.random.randrange(4)
        if choice == 0:
            order = self.random.sample(range(rank), rank)
            self._see(x, buffer.permute(*order), tuple(x.sizes[axis] for axis in order))
        elif choice == 1 and x.is_packed and prod(x.sizes):
            flat = (1, prod(x.sizes))
            self._see(x, buffer.reshape(1, -1), flat, packed=True)
        elif choice == 2 and rank < 6 and prod(x.sizes) < 200:
            sizes = (2, *x.sizes)
            self._see(x, buffer.expand(2, *[-1] * rank), sizes, repeats=True)
        elif rank and x.sizes[-1]:
            size = x.sizes[-1]
            if self.random.random() < 0.5:
                place = self.random.choice((-1, 0, size - 1))
                self._see(x, buffer[..., place], x.sizes[:-1])
            else:
                start, step = self.random.randrange(size), self.random.choice((1, 2))
                sizes = (*x.sizes[:-1], -(-(size - start) // step))
                self._see(x, buffer[..., start:size:step], sizes)

    def _see(
        self,
        x: _Item,
        buffer: Buffer,
        sizes: tuple[int, ...],
        packed: bool = False,
        repeats: bool = False,
    ) -> None:
        self.items.append(_Item(buffer, sizes, x.lives, packed, repeats or x.repeats))

    def _written_to(self) -> _Item:
        return self._any(lambda item: not item.repeats)

    def _in_place(self) -> None:
        x = self._written_to().buffer
        self.p.compute_kind(self.random.choice(_KINDS), x, out=x)

    def _set(self) -> None:
        x = self._written_to()
        y = self._like(x, apart=True)
        if y.sizes == x.sizes and not y.lives & x.lives:
            self.p.set(y.buffer, out=x.buffer)

    def _allocate(self) -> None:
        x = self._any()
        rank = len(x.sizes)
        order = self.random.sample(range(rank), rank)
        memory = self.random.choice(("device", "device", "pinned", "managed"))
        if rank and self.random.random() < 0.3:
            domain = [steps.Split(0, self.random.choice((1, 2, 4)))]
            y = self.p.allocate(x.buffer.shape, x.element, domain=domain, zero_init=True)
        else:
            y = self.p.allocate(x.buffer.shape, x.element, order=order, memory=memory)
            self.p.set(x.buffer, out=y)
        self._fresh(y, x.sizes, packed=False)

    def _end_life(self) -> None:
        """Frees a buffer, or takes over its memory."""
        mine = [item for item in self.items if {life.depth for life in item.lives} == {self.depth}]
        if not mine:
            return
        x = self.random.choice(mine)
        gone = next(iter(x.lives))
        whole = next(item for item in self.items if item.lives == x.lives)
        if any(item.lives > x.lives for item in self.items):
            return
        self.items = [item for item in self.items if gone not in item.lives]
        if self.random.random() < 0.5:
            whole.buffer.deallocate()
        else:
            y = self.p.reuse(whole.buffer, whole.buffer.shape, "i8", zero_init=True)
            self._fresh(y, whole.sizes)

    def _inside(self) -> Callable[[], None]:
        """Enters a block; what it gives ends it, and waits there for what it put into streams."""
        kept, before = (list(self.items), list(self.scalars)), self.p.current_stream()
        self.depth += 1

        def end() -> None:
            before.wait(self.p.current_stream())
            self.depth -= 1
            self.items, self.scalars = kept

        return end

    def _loop(self) -> None:
        x = self._any(lambda item: bool(item.sizes) and item.sizes[0] < 4)
        with self.p.loop(x.buffer.shape[0]) as index:
            end = self._inside()
            self._see(x, x.buffer[index], x.sizes[1:])
            self._block(self.random.randint(1, 4))
            end()

    def _spread(self) -> None:
        """A loop whose iterations are on streams of their own."""
        x = self._any(lambda item: bool(item.sizes))
        y = self.p.allocate(x.buffer.shape, x.element)
        with self.p.loop(x.buffer.shape[0], streams=self.random.choice((1, 2, 4))) as index:
            self.p.max(x.buffer[index].reshape(-1), axes=0) if len(x.sizes) == 2 else None
            self.p.compute_kind("relu", x.buffer[index].copy(), out=y[index])
        self._fresh(y, x.sizes)

    def _branch(self) -> None:
        x = self._any()
        conditions = [one > 1 for one in self.scalars if isinstance(one, Scalar)]
        condition = self.random.choice([*conditions, self.random.random() < 0.5])
        with self.p.branch(condition) as branch:
            for side, kind in ((branch.then, "abs"), (branch.otherwise, "sign")):
                with side:
                    end = self._inside()
                    self._block(self.random.randint(0, 3))
                    branch.output(self.p.compute_kind(kind, x.buffer))
                    end()
        self._fresh(branch.result, x.sizes)

    def _on_stream(self) -> None:
        here, side = self.p.current_stream(), self.p.stream(self.random.choice(("a", "b")))
        side.wait(here)
        self.p.set_stream(side)
        self._block(self.random.randint(1, 3))
        here.wait(self.p.current_stream())
        self.p.set_stream(here)

    def _call(self) -> None:
        if not self.written:
            return
        callee = self.random.choice(self.written)
        arguments: list[Any] = []
        for wanted in callee.inputs:
            if wanted.sizes is None:
                arguments.append(self._number(wanted.element))
                continue
            x = self.p.allocate(wanted.sizes, wanted.element)
            self.p.set(1, out=x)
            arguments.append(x)
        results = self.p.call(callee.program, *arguments)
        first = results[0] if isinstance(results, tuple) else results
        total = self.p.max(first) if isinstance(first, Buffer) and first.rank else first
        if isinstance(total, Buffer):
            self._fresh(total.copy(), ())

    def _number(self, element: str) -> Any:
        return 2 if element == "index" else self.p.constant(1, element)

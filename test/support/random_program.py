"""Random Host IR programs: straight lines, loops, branches, views, streams and calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_HELPER = """
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %t = "hir.unary"(%x) {kind = "abs"} : (memref<?xf32>) -> memref<?xf32>
  %y = "hir.unary"(%t) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.output"(%y) : (memref<?xf32>) -> ()
}) {sym_name = "helper", function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
"""

# The views of a buffer of 2n elements that a program takes.
_HALF = "strided<[2]>"


@dataclass(frozen=True)
class _Buffer:
    """A buffer by name: its number of elements, element type, and whether it may be written."""

    name: str
    size: int
    element: str
    is_fresh: bool

    @property
    def type(self) -> str:
        return f"memref<{self.size}x{self.element}>"


@dataclass
class ProgramWriter:
    """Writes one program with static sizes, from a source of random numbers."""

    random: Random
    lines: list[str] = field(default_factory=list[str])
    count: int = 0
    has_branch: bool = False
    depth: int = 0
    index: str = "%one"

    def text(self) -> str:
        """The module: the program @main and the one that it calls."""
        scope = [_Buffer("%x", 4, "f32", False), _Buffer("%y", 8, "f32", False)]
        self._block(scope, self.random.randint(3, 12))
        fresh = [one for one in scope if one.is_fresh]
        outputs = self.random.sample(fresh, min(len(fresh), self.random.randint(1, 2)))
        for number, one in enumerate(outputs):
            self.lines.append(
                f'"hir.output"({one.name}) {{name = "o{number}"}} : ({one.type}) -> ()'
            )
        body = "\n".join(self.lines)
        types = ", ".join(one.type for one in outputs)
        return (
            '"hir.program"() ({\n^bb0(%x: memref<4xf32>, %y: memref<8xf32>, %c: i1):\n'
            "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n"
            "%two = arith.constant 2 : index\n"
            f'{body}\n}}) {{sym_name = "main", function_type = (memref<4xf32>, memref<8xf32>, i1)'
            f" -> ({types})}} : () -> ()\n{_HELPER}"
        )

    def _name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def _block(self, scope: list[_Buffer], steps: int) -> None:
        for _ in range(steps):
            kinds = [self._unary, self._unary, self._convert, self._binary, self._in_place]
            kinds += [self._double, self._view, self._stream, self._call]
            if self.depth < 2:
                kinds += [self._loop, self._branch]
            self.random.choice(kinds)(scope)

    def _fresh(self, scope: list[_Buffer], size: int, element: str) -> _Buffer:
        scope.append(_Buffer(self._name(), size, element, True))
        return scope[-1]

    def _unary(self, scope: list[_Buffer]) -> None:
        x = self.random.choice(scope)
        y = self._fresh(scope, x.size, x.element)
        kind = self.random.choice(["neg", "abs"])
        self.lines.append(
            f'{y.name} = "hir.unary"({x.name}) {{kind = "{kind}"}} : ({x.type}) -> {y.type}'
        )

    def _convert(self, scope: list[_Buffer]) -> None:
        x = self.random.choice(scope)
        y = self._fresh(scope, x.size, self.random.choice(["f16", "f32", "f64"]))
        self.lines.append(f'{y.name} = "hir.set"({x.name}) : ({x.type}) -> {y.type}')

    def _binary(self, scope: list[_Buffer]) -> None:
        x = self.random.choice(scope)
        like = [one for one in scope if (one.size, one.element) == (x.size, x.element)]
        y = self.random.choice(like)
        z = self._fresh(scope, x.size, x.element)
        self.lines.append(
            f'{z.name} = "hir.binary"({x.name}, {y.name}) {{kind = "sub"}}'
            f" : ({x.type}, {y.type}) -> {z.type}"
        )

    def _in_place(self, scope: list[_Buffer]) -> None:
        fresh = [one for one in scope if one.is_fresh]
        if fresh:
            x = self.random.choice(fresh)
            self.lines.append(
                f'"hir.unary"({x.name}, {x.name}) {{kind = "neg"}} : ({x.type}, {x.type}) -> ()'
            )

    def _double(self, scope: list[_Buffer]) -> None:
        """Another size: the two halves of a buffer made by hir.allocate are written apart."""
        x = self.random.choice(scope)
        if x.size > 16:
            return
        y = self._fresh(scope, 2 * x.size, x.element)
        view = f"memref<{x.size}x{x.element}, {_HALF}>"
        odd = f"memref<{x.size}x{x.element}, strided<[2], offset: 1>>"
        first, second, size = self._name(), self._name(), self._name()
        self.lines += [
            f'{y.name} = "hir.allocate"() : () -> {y.type}',
            f"{size} = arith.constant {2 * x.size} : index",
            f'{first} = "hir.slice"({y.name}, %zero, {size}) {{axis = 0 : i64, step = 2 : i64}}'
            f" : ({y.type}, index, index) -> {view}",
            f'{second} = "hir.slice"({y.name}, %one, {size}) {{axis = 0 : i64, step = 2 : i64}}'
            f" : ({y.type}, index, index) -> {odd}",
            f'"hir.set"({x.name}, {first}) : ({x.type}, {view}) -> ()',
            f'"hir.set"({x.name}, {second}) : ({x.type}, {odd}) -> ()',
        ]

    def _view(self, scope: list[_Buffer]) -> None:
        """The first element of a buffer, by views, on top of another buffer."""
        x = self.random.choice(scope)
        flat, column, y = self._name(), self._name(), self._fresh(scope, x.size // 2, x.element)
        whole = f"memref<2x{x.size // 2}x{x.element}>"
        row = f"memref<{x.size // 2}x{x.element}>"
        self.lines += [
            f'{flat} = "hir.reshape"({x.name}) : ({x.type}) -> {whole}',
            f'{column} = "hir.select"({flat}, %zero) {{axis = 0 : i64}}'
            f" : ({whole}, index) -> {row}",
            f'{y.name} = "hir.unary"({column}) {{kind = "neg"}} : ({row}) -> {y.type}',
        ]
        if y.size == 1:
            scope.pop()

    def _stream(self, scope: list[_Buffer]) -> None:
        stream, here = self._name(), self._name()
        made = self.random.choice(
            [
                '() {name = "left"} : ()',
                '() {name = "right"} : ()',
                f"({self.index}) {{pool = 2 : i64}} : (index)",
            ]
        )
        self.lines += [
            f'{here} = "hir.current_stream"() : () -> !hir.stream_t',
            f'{stream} = "hir.stream"{made} -> !hir.stream_t',
            f'"hir.wait_stream"({stream}, {here}) : (!hir.stream_t, !hir.stream_t) -> ()',
            f'"hir.set_stream"({stream}) : (!hir.stream_t) -> ()',
        ]

    def _call(self, scope: list[_Buffer]) -> None:
        singles = [one for one in scope if one.element == "f32"]
        x, results = self.random.choice(singles), self._name()
        y = self._fresh(scope, x.size, x.element)
        self.lines += [
            f'{results} = "hir.call"() ({{ "hir.argument"({x.name}) : ({x.type}) -> () }})'
            " {callee = @helper} : () -> !hir.results_t",
            f'{y.name} = "hir.result"({results}) {{index = 0 : i64}}'
            f" : (!hir.results_t) -> {y.type}",
        ]

    def _inner(self, scope: list[_Buffer]) -> list[_Buffer]:
        inner = list(scope)
        self.depth += 1
        self._block(inner, self.random.randint(1, 4))
        self.depth -= 1
        return inner

    def _loop(self, scope: list[_Buffer]) -> None:
        streams = self.random.choice(["", " {streams = 2 : i64}"])
        outer, self.index = self.index, self._name()
        self.lines.append(f'"hir.for"(%zero, %two, %one) ({{\n^bb0({self.index}: index):')
        self._inner(scope)
        self.index = outer
        self.lines.append(f"}}){streams} : (index, index, index) -> ()")

    def _branch(self, scope: list[_Buffer]) -> None:
        """Both branches give a fresh copy of something of one type."""
        self.has_branch = True
        wanted, results = self.random.choice(scope), self._name()
        self.lines.append(f'{results} = "hir.if"(%c) ({{')
        for end in ("}, {", "}) : (i1) -> !hir.results_t"):
            inner = self._inner(scope)
            like = [one for one in inner if one.type == wanted.type]
            x, y = self.random.choice(like), self._name()
            self.lines += [
                f'{y} = "hir.unary"({x.name}) {{kind = "abs"}} : ({x.type}) -> {x.type}',
                f'"hir.output"({y}) : ({x.type}) -> ()',
                end,
            ]
        if self.random.random() < 0.8:
            y = self._fresh(scope, wanted.size, wanted.element)
            self.lines.append(
                f'{y.name} = "hir.result"({results}) {{index = 0 : i64}}'
                f" : (!hir.results_t) -> {y.type}"
            )

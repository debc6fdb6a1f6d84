"""Convolutions that the blocks of a cluster compute together, against torch in float64.

They make sums in parts: configurations ask for parts that steps of terms do not divide, of more
parts than steps too; and without one the compiler decides, for shapes on both sides of its limits.
Or they share the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
import torch
from schedules.harness import Suite
from schedules.programs import Written
from torch.nn import functional

_LAST, _FIRST = "n, h, w, g, f", "n, g, f, h, w"


@dataclass(frozen=True)
class _Convolution:
    """A padded convolution with a bias and a residual, and relu of their sum.

    It has `images` of a `size`, and `groups` of `channels` and of `features` each. Operands are in
    the layout `read`, the result and the residual in the layout `written`.
    """

    name: str
    size: tuple[int, int]
    channels: int
    features: int
    asks: str = ""
    images: int = 1
    groups: int = 1
    window: tuple[int, int] = (3, 3)
    pad: tuple[int, int] = (1, 1)
    step: int = 1
    dilation: int = 1
    element: str = "bf16"
    read: str = _LAST
    written: str = _LAST

    @property
    def result(self) -> tuple[int, int]:
        down, right = (
            (size + 2 * pad - self.dilation * (window - 1) - 1) // self.step + 1
            for size, pad, window in zip(self.size, self.pad, self.window, strict=True)
        )
        return down, right

    @property
    def _window(self) -> list[int]:
        own = [*self.window, self.channels]
        return [self.groups, self.features, *(own if self.read == _LAST else own[-1:] + own[:-1])]

    @property
    def _of_image(self) -> dict[str, int]:
        down, right = self.size
        return {"n": self.images, "g": self.groups, "f": self.channels, "h": down, "w": right}

    @property
    def _of_result(self) -> dict[str, int]:
        down, right = self.result
        return {"n": self.images, "g": self.groups, "f": self.features, "h": down, "w": right}

    def _text(self) -> str:
        """Returns a function on tensors that have a dim for the groups."""
        e, pads = self.element, dict(zip("hw", self.pad, strict=True))
        around = {dim: size + 2 * pads.get(dim, 0) for dim, size in self._of_image.items()}
        x, padded = (_tensor(_ordered(self.read, each), e) for each in (self._of_image, around))
        y, sums = (_tensor(_ordered(self.written, self._of_result), of) for of in (e, "f32"))
        k, bias = _tensor(self._window, e), _tensor([self.groups, self.features], e)
        amounts = ", ".join(str(pads.get(dim, 0)) for dim in self.read.split(", "))
        loops = "n, h, w, g, f, r, s, c"
        reads = {
            "h": f"{self.step} * h + {self.dilation} * r",
            "w": f"{self.step} * w + {self.dilation} * s",
            "f": "c",
        }
        places = ", ".join(reads.get(dim, dim) for dim in self.read.split(", "))
        order = "g, f, r, s, c" if self.read == _LAST else "g, f, c, r, s"
        asked = f'hir.configuration = {{family = "contraction", {self.asks}}}' if self.asks else ""

        def extended(to: str, value: str) -> str:
            how = f"arith.extf %{value} : {e} to f32"
            return f"%{to} = " + (how if e != "f32" else f"arith.addf %{value}, %less : f32")

        rounded = f"arith.truncf %m : f32 to {e}" if e != "f32" else "arith.addf %m, %none : f32"
        same, of_bias = (
            f"affine_map<(n, h, w, g, f) -> ({dims})>" for dims in (self.written, "g, f")
        )
        parallel = ", ".join(['"parallel"'] * 5)
        return f"""
      func.func @NAME(%x: {x}, %k: {k}, %bias: {bias}, %r: {y}) -> {y} {{
        %zero = arith.constant 0.0 : {e}
        %none = arith.constant 0.0 : f32
        %less = arith.constant -0.0 : f32
        %p = tensor.pad %x low[{amounts}] high[{amounts}] {{
        ^bb0(%i: index, %j: index, %l: index, %o: index, %c: index):
          tensor.yield %zero : {e}
        }} : {x} to {padded}
        %empty = tensor.empty() : {sums}
        %start = linalg.fill ins(%none : f32) outs(%empty : {sums}) -> {sums}
        %sum = linalg.generic {{
          indexing_maps = [affine_map<({loops}) -> ({places})>, affine_map<({loops}) -> ({order})>,
                           affine_map<({loops}) -> ({self.written})>],
          iterator_types = [{parallel}, "reduction", "reduction", "reduction"]}}
          ins(%p, %k : {padded}, {k}) outs(%start : {sums}) attrs = {{{asked}}} {{
        ^bb0(%a: {e}, %b: {e}, %o: f32):
          {extended("wa", "a")}
          {extended("wb", "b")}
          %m = arith.mulf %wa, %wb : f32
          %s = arith.addf %m, %o : f32
          linalg.yield %s : f32
        }} -> {sums}
        %out = tensor.empty() : {y}
        %y = linalg.generic {{indexing_maps = [{same}, {of_bias}, {same}, {same}],
                              iterator_types = [{parallel}]}}
          ins(%sum, %bias, %r : {sums}, {bias}, {y}) outs(%out : {y}) {{
        ^bb0(%a: f32, %b: {e}, %c: {e}, %o: {e}):
          {extended("wb", "b")}
          {extended("wc", "c")}
          %v = arith.addf %a, %wb : f32
          %t = arith.addf %v, %wc : f32
          %m = arith.maximumf %t, %none : f32
          %q = {rounded}
          linalg.yield %q : {e}
        }} -> {y}
        return %y : {y}
      }}"""

    def _reference(
        self, x: torch.Tensor, k: torch.Tensor, bias: torch.Tensor, r: torch.Tensor
    ) -> torch.Tensor:
        if self.read == _LAST:
            x, k = x.permute(0, 3, 4, 1, 2), k.permute(0, 1, 4, 2, 3)
        y = functional.conv2d(
            x.flatten(1, 2),
            k.flatten(0, 1),
            bias.flatten(),
            self.step,
            self.pad,
            self.dilation,
            self.groups,
        )
        y = y.unflatten(1, (self.groups, self.features))
        if self.written == _LAST:
            y = y.permute(0, 3, 4, 1, 2)
        return (y + r).relu()

    @property
    def program(self) -> Written:
        result = _spec(_ordered(self.written, self._of_result), self.element)
        return Written(
            self.name,
            (
                _spec(_ordered(self.read, self._of_image), self.element),
                _spec(self._window, self.element),
                _spec([self.groups, self.features], self.element),
                result,
            ),
            (result,),
            self._reference,
            ({"one": 1},),
            magnitude=20.0,
            source=self._text(),
        )


def _ordered(layout: str, sizes: Mapping[str, int]) -> list[int]:
    return [sizes[dim] for dim in layout.split(", ")]


def _tensor(sizes: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def _spec(sizes: Sequence[int], element: str) -> str:
    return f"{element}[{', '.join(map(str, sizes))}]"


def _asked(rows: int, columns: int, parts: int, consumers: int = 1, stages: int = 4) -> str:
    return (
        f"rows = {rows}, columns = {columns}, stages = {stages}, "
        f"consumers = {consumers}, parts = {parts}"
    )


def _beside(rows: int, columns: int, down: int) -> str:
    return (
        f"rows = {rows}, columns = {columns}, stages = 3, consumers = 1, parts = 1, down = {down}"
    )


_SUITE = [
    # 18 steps in 4 parts; 9 in 5, with two warpgroups and a step of the window of 2.
    _Convolution("last", (9, 7), 128, 72, _asked(64, 64, 4)),
    _Convolution("steps", (8, 10), 64, 136, _asked(128, 128, 5, 2, 3), 3, step=2),
    _Convolution("dilated", (9, 12), 64, 70, _asked(64, 96, 2), 2, pad=(2, 0), dilation=2),
    # Results have rows side by side in memory.
    _Convolution("first", (7, 7), 128, 64, _asked(64, 64, 8), 2, written=_FIRST),
    _Convolution("first_odd", (7, 9), 64, 67, _asked(64, 64, 3), 2, written=_FIRST),
    _Convolution(
        "first_1x1", (7, 7), 200, 72, _asked(128, 64, 3, 2), 3, 1, (1, 1), (0, 0), written=_FIRST
    ),
    # Three steps in 8 parts; and a grouped one.
    _Convolution("short", (8, 8), 192, 64, _asked(64, 64, 8), 1, 1, (1, 1), (0, 0)),
    _Convolution("grouped", (7, 7), 64, 64, _asked(64, 64, 4), 2, 3),
    # Blocks share the weights: of an image each, and of three boxes of one image.
    _Convolution("shared", (8, 8), 64, 72, _beside(64, 64, 2), 2),
    _Convolution("shared_by_three", (12, 16), 64, 136, _beside(64, 96, 3), 1, step=1),
    # The compiler's own choice: parts; of a few channels none, nor of few rows or columns.
    _Convolution("long_sums", (7, 7), 256, 64),
    _Convolution("long_sums_of_groups", (7, 7), 256, 64, groups=2),
    _Convolution("short_sums", (7, 7), 48, 64),
    _Convolution("few_rows", (3, 3), 256, 64),
    _Convolution("few_columns", (7, 7), 256, 16),
]
SUITE = Suite([each.program for each in _SUITE])

ROUNDED = Suite(
    [
        replace(each.program, tolerance=250.0)
        for each in (
            _Convolution("last", (9, 7), 36, 72, _asked(64, 64, 4), element="f32"),
            _Convolution("first", (7, 7), 64, 64, _asked(64, 64, 8), element="f32", written=_FIRST),
            _Convolution("long_sums", (7, 7), 128, 64, element="f32"),
        )
    ],
    flags=("-O0", "--float32-products=tf32"),
)


# Images of which copies are made that have channels last.
_FIRSTS = [
    _Convolution(*("copied", (7, 7), 128, 72, _asked(64, 64, 4), 2), read=_FIRST, written=_FIRST),
    _Convolution(
        *("copied_1x1", (7, 7), 200, 72, _asked(128, 64, 3, 2), 3, 1, (1, 1), (0, 0)),
        read=_FIRST,
        written=_FIRST,
    ),
]


def test_copied_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of small images do not pay, and are made here all the same, in rows of channels."""

    def none(*_: object) -> None: ...

    channels = "hirc.pipelines.contractions.channels"
    monkeypatch.setattr(f"{channels}.SINGLE", 1.0)
    monkeypatch.setattr(f"{channels}._ORDINARY", {4: 1.0, 1: 1.0})
    monkeypatch.setattr(f"{channels}.read_chunks", none)
    suite = Suite([each.program for each in _FIRSTS])
    for name in suite.names:
        suite.check(name)
    suite.check_silence()


@pytest.mark.parametrize("name", SUITE.names)
def test_numbers(name: str) -> None:
    SUITE.check(name)


@pytest.mark.parametrize("name", ROUNDED.names)
def test_rounded(name: str) -> None:
    ROUNDED.check(name)


def test_checks_are_silent() -> None:
    SUITE.check_silence(["last", "steps", "first", "first_1x1", "grouped", "long_sums", "shared"])
    ROUNDED.check_silence(["first"])

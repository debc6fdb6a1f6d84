"""Chains: a convolution or a product, and two to six links after it."""

from __future__ import annotations

from .convolution import drawn_convolution
from .draw import Draw, Problem
from .links import LINKS, Chain

_ROOTS = {
    "conv2d": 0.28,
    "conv_transpose2d": 0.14,
    "conv3d": 0.13,
    "conv_transpose3d": 0.15,
    "linear": 0.24,
    "matmul": 0.04,
    "conv1d": 0.02,
}


def chain(draw: Draw) -> Problem:
    """Returns a chain."""
    root = draw.weighted(_ROOTS)
    if root in ("linear", "matmul"):
        made = _product(draw, root)
    else:
        transposed = "transpose" in root
        drawn = drawn_convolution(draw, int(root[-2]), transposed=transposed)
        made = Chain(draw, drawn.outputs, {"x": _input(draw, drawn.inputs)})
        made.fields.append(f"self.conv = {drawn.text}")
        made.lines.append("x = self.conv(x)")
    wanted = draw.few(2, 6)
    while len(made.names) < wanted:
        # A link that does not fit the shape adds nothing.
        draw.weighted(LINKS)(made)
    if draw.chance(0.15):
        made.lines.append("x = torch.flatten(x, 1)")
    made.lines.append("return x")
    return Problem("_".join([root, *made.names]), made.fields, made.lines, made.inputs)


def _input(draw: Draw, sizes: tuple[int, ...]) -> str:
    maker = draw.pick("torch.rand", "torch.randn")
    return f"{maker}({', '.join(map(str, sizes))})"


def _product(draw: Draw, root: str) -> Chain:
    rows = draw.size(64, 16384, tiny=(1, 9), odd=0.1)
    features, results = draw.size(256, 16384, odd=0.1), draw.size(256, 16384, of=8, tiny=(1, 3))
    made = Chain(draw, (rows, results), {"x": _input(draw, (rows, features))})
    if root == "linear":
        bias = "" if draw.chance(0.8) else ", bias=False"
        made.fields.append(f"self.linear = nn.Linear({features}, {results}{bias})")
        made.lines.append("x = self.linear(x)")
    else:
        scale = f"{features**-0.5:.6f}"
        text = f"nn.Parameter(torch.randn({features}, {results}) * {scale})"
        made.fields.append(f"self.matrix = {text}")
        made.lines.append("x = torch.matmul(x, self.matrix)")
    return made

"""The links of a chain: what takes a tensor after a convolution or product, and changes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from .draw import Draw

# Functions of elements by name: {x} is what they take, {a} and {b} are numbers.
ACTIVATIONS = {
    "relu": "torch.relu({x})",
    "relu6": "functional.relu6({x})",
    "leaky_relu": "functional.leaky_relu({x}, negative_slope={a})",
    "sigmoid": "torch.sigmoid({x})",
    "tanh": "torch.tanh({x})",
    "swish": "{x} * torch.sigmoid({x})",
    "silu": "functional.silu({x})",
    "gelu": "functional.gelu({x})",
    "gelu_tanh": "functional.gelu({x}, approximate='tanh')",
    "gelu_by_hand": "0.5 * {x} * (1 + torch.tanh(0.7978845608 * ({x} + 0.044715 * {x}**3)))",
    "mish": "functional.mish({x})",
    "mish_by_hand": "{x} * torch.tanh(functional.softplus({x}))",
    "hardswish": "functional.hardswish({x})",
    "hardswish_by_hand": "{x} * torch.clamp(({x} + 3) / 6, 0, 1)",
    "hardsigmoid": "functional.hardsigmoid({x})",
    "hardtanh": "functional.hardtanh({x}, min_val=-{b}, max_val={b})",
    "softplus": "functional.softplus({x})",
    "softsign": "{x} / (1 + torch.abs({x}))",
    "elu": "functional.elu({x}, alpha={b})",
    "selu": "torch.selu({x})",
    "celu": "functional.celu({x}, alpha={b})",
    "logsigmoid": "functional.logsigmoid({x})",
    "tanhshrink": "functional.tanhshrink({x})",
    "hardshrink": "functional.hardshrink({x}, lambd={a})",
    "softshrink": "functional.softshrink({x}, lambd={a})",
    "threshold": "functional.threshold({x}, {a}, 0.0)",
    "square": "{x} ** 2",
    "abs": "torch.abs({x})",
    "exp_minus": "torch.exp(-torch.abs({x}))",
}


@dataclass
class Chain:
    """A chain as it is made: its statements, and the shape of what it has come to."""

    draw: Draw
    shape: tuple[int, ...]
    inputs: dict[str, str]
    fields: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=list[str])
    # After a norm a mean is 0 but for roundings.
    is_centred: bool = False

    @property
    def dims(self) -> int:
        """Returns how many dimensions an image has; 0 for rows of features."""
        return len(self.shape) - 2

    def add(self, name: str, value: str, shape: tuple[int, ...] | None = None) -> bool:
        """Adds a link that computes x. Returns True."""
        self.names.append(name)
        self.lines.append(f"x = {value}")
        self.shape = self.shape if shape is None else shape
        return True

    def module(self, name: str, text: str, shape: tuple[int, ...] | None = None) -> bool:
        """Adds a link that is a module. Returns True."""
        number = len(self.names)
        self.fields.append(f"self.{name}_{number} = {text}")
        return self.add(name, f"self.{name}_{number}(x)", shape)

    def parameter(self, *sizes: int) -> str:
        """Adds a parameter. Returns its name."""
        name = f"self.weight_{len(self.fields)}"
        self.fields.append(f"{name} = nn.Parameter(torch.randn({', '.join(map(str, sizes))}))")
        return name


def _activation(chain: Chain) -> bool:
    draw = chain.draw
    name, text = draw.pick(*ACTIVATIONS.items())
    chain.is_centred = False
    return chain.add(name, text.format(x="x", a=draw.number(0.01, 0.3), b=draw.number(0.5, 2)))


def _with_number(chain: Chain) -> bool:
    draw = chain.draw
    value = draw.number(0.1, 3)
    name, text = draw.pick(
        ("add", f"x + {value}"),
        ("subtract", f"x - {value}"),
        ("scale", f"x * {value}"),
        ("divide", f"x / {value}"),
        ("clamp_least", f"torch.clamp(x, min={-value})"),
        ("clamp", f"torch.clamp(x, {-value}, {value})"),
        ("min_constant", f"torch.min(x, torch.tensor({value}, device=x.device))"),
        ("max_constant", f"torch.maximum(x, torch.full_like(x, {-value}))"),
    )
    return chain.add(name, text)


def _with_weight(chain: Chain) -> bool:
    """By channel, or one for all: `x + self.bias` and the like."""
    draw = chain.draw
    sizes = draw.pick((chain.shape[1], *[1] * chain.dims), (1,))
    name, sign = draw.pick(("bias", "+"), ("subtract_weight", "-"), ("scale_weight", "*"))
    return chain.add(name, f"x {sign} {chain.parameter(*sizes)}")


def _norm(chain: Chain) -> bool:
    draw, (batch, channels, *sides) = chain.draw, chain.shape
    groups = [each for each in (2, 4, 8, 16) if channels % each == 0 and channels > each]
    options = ["batch"] if batch * math.prod(sides) > 1 else []
    options += ["group"] if groups and channels // groups[0] * math.prod(sides) > 1 else []
    options += ["instance"] if chain.dims and math.prod(sides) > 1 else []
    options += ["layer"] if math.prod(chain.shape[1:]) > 1 and min(chain.shape[-2:]) > 1 else []
    if chain.is_centred or not options:
        return False
    form = draw.pick(*options)
    last = chain.shape[-draw.pick(1, len(chain.shape) - 1) :]
    chain.is_centred = True
    if form == "batch":
        return chain.module("batch_norm", f"nn.BatchNorm{max(chain.dims, 1)}d({channels})")
    if form == "group":
        return chain.module("group_norm", f"nn.GroupNorm({draw.pick(*groups)}, {channels})")
    if form == "instance":
        text = f"nn.InstanceNorm{chain.dims}d({channels}, affine={draw.chance(0.3)})"
        return chain.module("instance_norm", text)
    return chain.module("layer_norm", f"nn.LayerNorm({last})")


def _pool(chain: Chain) -> bool:
    draw, dims, sides = chain.draw, chain.dims, chain.shape[2:]
    if not dims or min(sides) < 2:
        return False
    size = draw.pick(2, 2, 3, 4)
    if min(sides) < size:
        size = 2
    stride = draw.pick(size, size, 2, 1)
    after = tuple((side - size) // stride + 1 for side in sides)
    kind = draw.pick("Max", "Avg")
    words = f"{size}" if stride == size else f"{size}, stride={stride}"
    text = f"nn.{kind}Pool{dims}d({words})"
    return chain.module(f"{kind.lower()}_pool", text, (*chain.shape[:2], *after))


def _pool_features(chain: Chain) -> bool:
    if chain.dims or chain.shape[1] < 4:
        return False
    kind, size = chain.draw.pick("max", "avg"), chain.draw.pick(2, 4)
    text = f"functional.{kind}_pool1d(x.unsqueeze(1), {size}).squeeze(1)"
    return chain.add(f"{kind}_pool", text, (chain.shape[0], chain.shape[1] // size))


def _pool_to(chain: Chain) -> bool:
    """A mean over the image, or means over a few parts of it."""
    if not chain.dims or math.prod(chain.shape[2:]) < 2 or chain.is_centred:
        return False
    side = chain.draw.pick(1, 1, 1, 2)
    if min(chain.shape[2:]) < side:
        side = 1
    text = f"nn.AdaptiveAvgPool{chain.dims}d({side})"
    return chain.module("global_pool", text, (*chain.shape[:2], *[side] * chain.dims))


def _reduce(chain: Chain) -> bool:
    draw, shape = chain.draw, chain.shape
    axes = [axis for axis in range(1, len(shape)) if shape[axis] > 1]
    if not axes:
        return False
    name = draw.pick("mean", "sum", "max", "min", "logsumexp", "var", "norm")
    if name in ("mean", "sum", "logsumexp", "norm"):
        axes = draw.pick([1], axes, axes[-1:], axes[1:] or axes)
    else:
        axes = [draw.pick(*axes)]
    if chain.is_centred and name in ("mean", "sum", "logsumexp"):
        return False
    axis = axes[0] if len(axes) == 1 else tuple(axes)
    text = {
        "max": f"torch.max(x, dim={axis}, keepdim=True)[0]",
        "min": f"torch.min(x, dim={axis}, keepdim=True).values",
        "norm": f"torch.linalg.vector_norm(x, dim={axis}, keepdim=True)",
    }.get(name, f"torch.{name}(x, dim={axis}, keepdim=True)")
    after = tuple(1 if at in axes else size for at, size in enumerate(shape))
    chain.is_centred = False
    return chain.add(name, text, after)


def _softmax(chain: Chain) -> bool:
    axis = chain.draw.pick(1, 1, len(chain.shape) - 1)
    if chain.shape[axis] < 2:
        return False
    name = chain.draw.pick("softmax", "softmax", "log_softmax")
    # The logarithm of the sum of what log_softmax gives is 0 but for roundings.
    chain.is_centred = name == "log_softmax"
    return chain.add(name, f"torch.{name}(x, dim={axis})")


def _less_mean(chain: Chain) -> bool:
    """Less a mean over the image, or over features."""
    axes = range(2 if chain.dims else 1, len(chain.shape))
    if math.prod(chain.shape[axis] for axis in axes) < 2 or chain.is_centred:
        return False
    chain.is_centred = True
    return chain.add("subtract_mean", f"x - torch.mean(x, dim={tuple(axes)}, keepdim=True)")


def _residual(chain: Chain) -> bool:
    """With itself, through an activation; or with another input."""
    draw = chain.draw
    if draw.chance(0.5):
        text = draw.pick(*ACTIVATIONS.values()).format(x="x", a=0.1, b=1.0)
        return chain.add("residual", f"x {draw.pick('+', '*')} ({text})")
    name = f"other_{len(chain.inputs)}"
    chain.inputs[name] = f"torch.randn({', '.join(map(str, chain.shape))})"
    return chain.add("residual_input", f"x {draw.pick('+', '+', '*')} {name}")


def _shuffle(chain: Chain) -> bool:
    if chain.dims != 2 or chain.shape[1] % 4:
        return False
    batch, channels, *sides = chain.shape
    after = (batch, channels // 4, *(2 * side for side in sides))
    return chain.module("pixel_shuffle", "nn.PixelShuffle(2)", after)


def _upsample(chain: Chain) -> bool:
    if chain.dims != 2 or math.prod(chain.shape[2:]) > 128 * 128:
        return False
    mode = chain.draw.pick("mode='nearest'", "mode='bilinear', align_corners=False")
    after = (*chain.shape[:2], *(2 * side for side in chain.shape[2:]))
    return chain.module("upsample", f"nn.Upsample(scale_factor=2, {mode})", after)


def _drop(chain: Chain) -> bool:
    return chain.module("dropout", f"nn.Dropout({chain.draw.number(0.1, 0.5)})")


LINKS: dict[Callable[[Chain], bool], float] = {
    _activation: 30,
    _with_number: 18,
    _with_weight: 12,
    _norm: 12,
    _pool: 8,
    _pool_features: 2,
    _pool_to: 4,
    _reduce: 8,
    _softmax: 4,
    _less_mean: 2,
    _residual: 5,
    _shuffle: 1.5,
    _upsample: 1.5,
    _drop: 2,
}

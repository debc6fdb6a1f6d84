"""The space that held-out operations are drawn from: kinds, shapes, types and layouts.

A seed and a number name an operation: it is the same on every machine. Operations are drawn kind by
kind in turns of `KINDS`, so that any stretch of numbers has all of them. What tunes schedules draws
from other seeds than `HELD_OUT`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .contraction_space import CONTRACTIONS
from .dice import Dice, Drawn
from .row import Array, Row

HELD_OUT = 16
_OPEN_SHARE = 0.25
_VIEW_SHARE = 0.12


def draw_row(seed: int, number: int, scale: int = 1, kinds: Sequence[str] = ()) -> Row:
    """Returns the operation of this seed and number, with so many times fewer elements.

    Of one of these kinds, in turns: without any, of `KINDS`.
    """
    names = kinds or list(KINDS)
    kind = names[number % len(names)]
    dice = Dice(seed, number, scale)
    drawn = (KINDS | CONTRACTIONS)[kind](dice)
    first = drawn.inputs[0]
    parameters = dict(drawn.parameters)
    if "view" in parameters:
        del parameters["view"]
        if len(first.sizes) > 1 and dice.chance(_VIEW_SHARE):
            parameters["view"] = dice.random.sample(range(len(first.sizes)), len(first.sizes))
            turned = [0] * len(first.sizes)
            for place, axis in enumerate(parameters["view"]):
                turned[axis] = first.sizes[place]
            inputs = (Array(first.element, tuple(turned), first.below), *drawn.inputs[1:])
        else:
            inputs = tuple(drawn.inputs)
    else:
        inputs = tuple(drawn.inputs)
    is_open = dice.chance(_OPEN_SHARE) and kind not in CONTRACTIONS
    sizes = "x".join(map(str, inputs[0].sizes))
    words = [str(parameters["op"])] if "op" in parameters else []
    name = "_".join([f"{number:04}", kind, *words, sizes, first.element])
    return Row(
        operation=kind,
        element=first.element,
        sizes={},
        inputs=inputs,
        outputs=(),
        bytes=0,
        flops=drawn.flops,
        share=0.0,
        parameters=parameters,
        label=f"{name}_open" if is_open else name,
        is_open=is_open,
    )


def _reduction(dice: Dice) -> Drawn:
    op = dice.one_of(["sum", "mean", "amax", "amin", "var", "std", "l2", "logsumexp", "abs_sum"])
    is_whole = op in ("sum", "amax", "amin")
    element = dice.element(with_integers=is_whole)
    shape = dice.shape((1, 2, 2, 3, 3, 4))
    axes = dice.axes(len(shape))
    return Drawn(
        [Array(element, shape, 100 if element.startswith("i") else 0)],
        {"op": op, "axes": axes, "keep": dice.chance(0.3), "view": True},
    )


def _normalization(dice: Dice) -> Drawn:
    op = dice.one_of(["softmax", "log_softmax", "standardize", "rms", "l2", "softmax_over_axes"])
    shape = dice.shape((2, 2, 3, 4))
    axes = dice.axes(len(shape), 1 if "softmax" in op and op != "softmax_over_axes" else None)
    return Drawn([Array(dice.element(), shape)], {"op": op, "axes": axes, "view": True})


def _affine_norm(dice: Dice) -> Drawn:
    op = dice.one_of(["layer_norm", "rms_norm", "group_norm", "instance_norm", "add_layer_norm"])
    element = dice.element()
    if op in ("group_norm", "instance_norm"):
        power = dice.total()
        channels = dice.one_of([8, 24, 32, 64, 96, 256])
        batch = dice.one_of([1, 2, 4, 7, 16])
        rest = max(power - math.log2(channels * batch), 4)
        shape = (batch, channels, *dice.shape((1, 2, 2, 3), rest))
        inputs = [Array(element, shape)] + [Array(element, (channels,))] * 2
        return Drawn(inputs, {"op": op, "groups": dice.one_of([1, 2, 4, 8])})
    shape = dice.shape((2, 3))
    inputs = [Array(element, shape), Array(element, shape[-1:])]
    if op != "rms_norm":
        inputs.append(Array(element, shape[-1:]))
    if op == "add_layer_norm":
        inputs.append(Array(element, shape))
    return Drawn(inputs, {"op": op})


def _statistics(dice: Dice) -> Drawn:
    op = dice.one_of(
        ["var_mean", "std_mean", "aminmax", "max_index", "min_index", "sum_and_square"]
    )
    shape = dice.shape((2, 2, 3))
    one = op in ("aminmax", "max_index", "min_index")
    axes = dice.axes(len(shape), 1 if one else None)
    return Drawn([Array(dice.element(), shape)], {"op": op, "axes": axes, "view": True})


def _stencil(dice: Dice) -> Drawn:
    dims = dice.one_of([1, 2, 2, 3])
    power = dice.total()
    outer = dice.one_of([1, 3, 16])
    shape = (outer, *(max(each, 4) for each in dice.shape((dims,), max(power - 4, 6))))
    return Drawn([Array(dice.element(), shape)], {"op": dice.one_of(["cross", "box"])})


def _pooling(dice: Dice) -> Drawn:
    dims = dice.one_of([1, 2, 2, 3])
    power = max(dice.total() - 5, 4)
    batch, channels = dice.one_of([1, 4, 16]), dice.one_of([3, 8, 32, 64])
    window = dice.one_of([2, 2, 3, 3, 5])
    least = 2 * window
    inner = dice.shape((dims,), max(power - math.log2(batch * channels) + 5, 4))
    return Drawn(
        [Array(dice.element(), (batch, channels, *(max(each, least) for each in inner)))],
        {
            "op": dice.one_of(["max", "average", "whole_average"]),
            "window": window,
            "stride": dice.one_of([1, 2, 2, window]),
            "padding": dice.one_of([0, window // 2]),
        },
    )


def _resampling(dice: Dice) -> Drawn:
    op = dice.one_of(["nearest", "bilinear", "bilinear_corners"])
    scale = dice.one_of([2.0, 2.0, 3.0, 0.5])
    power = max(dice.total() - 2 * max(math.log2(scale), 0), 8)
    batch, channels = dice.one_of([1, 4]), dice.one_of([3, 16, 64])
    inner = dice.shape((1,), (power - math.log2(batch * channels)) / 2)[0]
    shape = (batch, channels, max(inner, 4), max(inner + dice.one_of([0, 3, 8]), 4))
    element = dice.weighed((("f32", 0.7), ("f16", 0.3)))
    return Drawn([Array(element, shape)], {"op": op, "scale": scale})


def _piece(dice: Dice) -> Drawn:
    op = dice.one_of(
        [
            "slice",
            "step",
            "concatenate",
            "rotate_half",
            "rotary",
            "roll",
            "flip",
            "glu",
            "stack",
            "pad",
        ]
    )
    element = dice.element(with_integers=op in ("slice", "step", "concatenate", "roll", "flip"))
    shape = dice.shape((2, 3, 4))
    axis = dice.random.randrange(len(shape))
    if op in ("rotate_half", "rotary", "glu"):
        axis = len(shape) - 1
        shape = (*shape[:-1], shape[-1] + shape[-1] % 2)
    below = 100 if element.startswith("i") else 0
    inputs = [Array(element, shape, below)]
    if op in ("concatenate", "stack"):
        other = list(shape)
        if op == "concatenate":
            other[axis] = max(other[axis] // dice.one_of([1, 2, 3]), 1)
        inputs.append(Array(element, tuple(other), below))
    if op == "rotary":
        inputs += [Array(element, shape[-2:])] * 2
    by = dice.random.randint(1, max(shape[axis] - 1, 1))
    return Drawn(inputs, {"op": op, "axis": axis, "by": min(by, shape[axis] // 2 or 1)})


def _gather(dice: Dice) -> Drawn:
    op = dice.one_of(["select", "embedding", "gather", "index_add", "scatter_add", "index_copy"])
    shape = dice.shape((2, 3) if op != "embedding" else (2,))
    axis = 0 if op == "embedding" else dice.random.randrange(len(shape))
    size = shape[axis]
    element = dice.element()
    if op in ("gather", "scatter_add"):
        wide = list(shape)
        wide[axis] = dice.size(max(math.log2(size) - 1, 1))
        places = Array("i64", tuple(wide), size)
        inputs = [Array(element, shape), places]
        if op == "scatter_add":
            inputs.append(Array(element, tuple(wide)))
        return Drawn(inputs, {"op": op, "axis": axis})
    count = size if op == "index_copy" else dice.size(max(math.log2(size) - 1, 1))
    if op == "embedding":
        count = dice.size(dice.random.uniform(3.0, 17.0))
    inputs = [
        Array(element, shape),
        Array("i64", (count,), size, is_permutation=op == "index_copy"),
    ]
    if op in ("index_add", "index_copy"):
        inputs.append(Array(element, (*shape[:axis], count, *shape[axis + 1 :])))
    return Drawn(inputs, {"op": op, "axis": axis})


def _scan(dice: Dice) -> Drawn:
    op = dice.one_of(["cumsum", "cumsum", "cumprod", "logcumsumexp", "cummax"])
    shape = dice.shape((1, 2, 2, 3), min(dice.total(), 24))
    element = dice.element(with_integers=op == "cumsum")
    return Drawn(
        [Array(element, shape, 10 if element.startswith("i") else 0)],
        {"op": op, "axis": dice.random.randrange(len(shape))},
    )


def _cast(dice: Dice) -> Drawn:
    op = dice.one_of(["to", "to", "quantize_rows", "dequantize_rows", "quantize", "to_integer"])
    element = dice.element()
    shape = dice.shape((2, 3))
    if op == "dequantize_rows":
        scales = Array(element, (*shape[:-1], 1))
        return Drawn([Array("i8", shape, 100), scales], {"op": op})
    to = dice.one_of([each for each in ("f32", "bf16", "f16", "f64") if each != element])
    return Drawn([Array(element, shape)], {"op": op, "to": to, "view": True})


def _permutation(dice: Dice) -> Drawn:
    shape = dice.shape((2, 3, 4, 5))
    order = dice.random.sample(range(len(shape)), len(shape))
    if order == sorted(order):
        order.reverse()
    op = dice.one_of(["copy", "copy", "add", "scale_cast"])
    element = dice.element(with_integers=op == "copy")
    below = 100 if element.startswith("i") else 0
    inputs = [Array(element, shape, below)]
    if op == "add":
        inputs.append(Array(element, tuple(shape[axis] for axis in order), below))
    return Drawn(inputs, {"op": op, "order": order})


def _elementwise(dice: Dice) -> Drawn:
    op = dice.one_of(
        [
            "gelu_bias",
            "swiglu",
            "chain",
            "where",
            "clamp_add",
            "broadcast_add",
            "sigmoid_mul",
            "tanh",
            "polynomial",
        ]
    )
    shape = dice.shape((1, 2, 3, 4))
    element = dice.element()
    x = Array(element, shape)
    if op == "gelu_bias":
        return Drawn([x, Array(element, shape[-1:])], {"op": op})
    if op in ("swiglu", "where", "sigmoid_mul", "clamp_add"):
        return Drawn([x, x], {"op": op, "view": True})
    if op == "broadcast_add":
        kept = set(dice.axes(len(shape)))
        other = tuple(size if axis in kept else 1 for axis, size in enumerate(shape))
        return Drawn([x, Array(element, other)], {"op": op})
    return Drawn([x], {"op": op, "view": True})


def _loss(dice: Dice) -> Drawn:
    op = dice.one_of(["cross_entropy", "mse", "l1", "huber", "kl", "bce", "cosine"])
    element = dice.weighed((("f32", 0.7), ("bf16", 0.3)))
    shape = dice.shape((2,))
    if op == "cross_entropy":
        return Drawn([Array(element, shape), Array("i64", shape[:1], shape[1])], {"op": op})
    return Drawn([Array(element, shape)] * 2, {"op": op})


def _arg(dice: Dice) -> Drawn:
    shape = dice.shape((2, 3))
    axis = dice.random.randrange(len(shape))
    op = dice.one_of(["argmax", "argmin"])
    return Drawn([Array(dice.element(), shape)], {"op": op, "axes": [axis], "view": True})


# In the order in which they take turns; those with more to draw from have more.
KINDS: dict[str, Callable[[Dice], Drawn]] = {
    "reduction": _reduction,
    "normalization": _normalization,
    "permutation": _permutation,
    "elementwise": _elementwise,
    "piece": _piece,
    "pooling": _pooling,
    "statistics": _statistics,
    "gather": _gather,
    "affine_norm": _affine_norm,
    "cast": _cast,
    "stencil": _stencil,
    "scan": _scan,
    "resampling": _resampling,
    "loss": _loss,
    "arg": _arg,
}

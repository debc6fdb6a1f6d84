"""Single operators: products, convolutions, activations, norms, poolings, reductions, losses."""

from __future__ import annotations

from collections.abc import Callable

from .convolution import Convolution, drawn_convolution
from .draw import Draw, Problem
from .links import ACTIVATIONS

_MAKERS = ("torch.rand", "torch.randn")


def tensor(draw: Draw, *sizes: int) -> str:
    """Returns the text of an input of floats."""
    return f"{draw.pick(*_MAKERS)}({', '.join(map(str, sizes))})"


def _function(kind: str, line: str, inputs: dict[str, str], *fields: str) -> Problem:
    return Problem(kind, fields, (f"return {line}",), inputs)


def _product(draw: Draw) -> Problem:
    shape = draw.pick("square", "any", "tall", "wide", "small_k", "large_k", "vector")
    odd, tiny = 0.15, (2, 40)
    if shape == "square":
        m = n = k = draw.size(1024, 6144, tiny=tiny, odd=odd)
    else:
        m, n, k = (draw.size(512, 8192, tiny=tiny, odd=odd) for _ in range(3))
    few = draw.size(16, 96)
    if shape == "tall":
        m, n = draw.size(8192, 65536, odd=odd), few
    elif shape == "wide":
        m, n = few, draw.size(8192, 65536, odd=odd)
    elif shape == "small_k":
        m, n, k = draw.size(8192, 24576), draw.size(8192, 24576), few
    elif shape == "large_k":
        m, n, k = draw.size(64, 512), draw.size(64, 512), draw.size(65536, 524288, odd=odd)
    elif shape == "vector":
        m, n, k = draw.size(1024, 4096), 1, draw.size(32768, 262144, odd=odd)
    turned = [draw.chance(0.25), draw.chance(0.25)]
    a = tensor(draw, *((k, m) if turned[0] else (m, k)))
    b = tensor(draw, *((n, k) if turned[1] else (k, n)))
    names = [f"{name}.T" if turn else name for name, turn in zip("ab", turned, strict=True)]
    return _function(f"product_{shape}", f"torch.matmul({', '.join(names)})", {"a": a, "b": b})


def _batched_product(draw: Draw) -> Problem:
    m, n, k = (draw.size(128, 2048, odd=0.15) for _ in range(3))
    form = draw.pick("bmm", "3d_2d", "4d_2d", "4d_4d", "turned")
    batch, more = draw.size(4, 128), draw.size(2, 16)
    shared = tensor(draw, k, n)
    if form == "3d_2d":
        return _function("product_3d", "a @ b", {"a": tensor(draw, batch, m, k), "b": shared})
    if form == "4d_2d":
        line = draw.pick("torch.einsum('bijk,kl->bijl', a, b)", "torch.matmul(a, b)")
        inputs = {"a": tensor(draw, more, draw.size(8, 64), m, k), "b": shared}
        return _function("product_4d", line, inputs)
    if form == "4d_4d":
        inputs = {"a": tensor(draw, batch, more, m, k), "b": tensor(draw, batch, more, k, n)}
        return _function("product_heads", "torch.matmul(a, b)", inputs)
    inputs = {"a": tensor(draw, batch, m, k), "b": tensor(draw, batch, k, n)}
    if form == "turned":
        inputs["b"] = tensor(draw, batch, n, k)
        return _function("product_batched_turned", "torch.bmm(a, b.transpose(1, 2))", inputs)
    return _function("product_batched", "torch.bmm(a, b)", inputs)


def _special_product(draw: Draw) -> Problem:
    n, m = draw.size(1024, 5120), draw.size(1024, 8192)
    a, b = tensor(draw, n, n), tensor(draw, n, n)
    form = draw.pick("diagonal", "symmetric", "lower", "upper", "scaled", "outer", "added")
    if form == "diagonal":
        line = draw.pick("torch.diag(a) @ b", "a.unsqueeze(1) * b")
        return _function("product_diagonal", line, {"a": tensor(draw, n), "b": tensor(draw, n, m)})
    if form == "symmetric":
        inputs = {"a": f"(lambda a: (a + a.T) / 2)({a})", "b": b}
        return _function("product_symmetric", "torch.matmul(a, b)", inputs)
    if form in ("lower", "upper"):
        half = "tril" if form == "lower" else "triu"
        inputs = {"a": f"torch.{half}({a})", "b": f"torch.{half}({b})"}
        return _function(f"product_{form}", f"torch.{half}(torch.matmul(a, b))", inputs)
    if form == "scaled":
        inputs = {"a": tensor(draw, 4 * n, 4 * m)}
        return _function("matrix_scaled", f"a * {draw.number(0.1, 4)}", inputs)
    if form == "outer":
        inputs = {"a": tensor(draw, 4 * n), "b": tensor(draw, 4 * m)}
        return _function("outer_product", "torch.outer(a, b)", inputs)
    inputs = {"a": tensor(draw, n, m), "b": tensor(draw, m, n), "c": tensor(draw, n)}
    return _function("product_added", "torch.addmm(c, a, b)", inputs)


def _convolution(draw: Draw) -> Problem:
    dims = draw.weighted({1: 0.2, 2: 0.5, 3: 0.3})
    transposed = draw.chance(0.42)
    form = draw.weighted({"plain": 0.6, "depthwise": 0.16, "pointwise": 0.1, "separable": 0.07})
    made: Convolution = drawn_convolution(draw, dims, transposed=transposed, form=form)
    kind = f"{form}_conv{'_transpose' if made.transposed else ''}{dims}d"
    inputs = {"x": tensor(draw, *made.inputs)}
    if form == "separable":
        point = f"self.point = nn.Conv{dims}d({made.outputs[1]}, {draw.size(32, 256)}, 1)"
        fields = (f"self.conv = {made.text}", point)
        return _function(kind, "self.point(self.conv(x))", inputs, *fields)
    return _function(kind, "self.conv(x)", inputs, f"self.conv = {made.text}")


def _large(draw: Draw) -> tuple[int, ...]:
    """Returns the shape of a large tensor, of 1 to 5 dimensions."""
    elements = draw.size(1 << 24, 1 << 28)
    form = draw.pick("matrix", "matrix", "image", "volume", "sequence")
    tiny = (2, 4)
    if form == "matrix":
        rows = draw.size(64, 16384, odd=0.1)
        return rows, max(2, elements // rows)
    if form == "image":
        side, channels = draw.size(32, 512, odd=0.1), draw.size(16, 128, tiny=tiny)
        return max(2, elements // (side * side * channels)), channels, side, side
    if form == "volume":
        side, channels = draw.size(16, 96), draw.size(8, 64, tiny=tiny)
        return max(2, elements // (side**3 * channels)), channels, side, side, side
    return draw.size(8, 128), draw.size(128, 4096), draw.size(128, 4096, odd=0.1)


def _activation(draw: Draw) -> Problem:
    name, text = draw.pick(*ACTIVATIONS.items())
    text = text.format(x="x", a=draw.number(0.01, 0.3), b=draw.number(0.5, 2))
    spread = draw.pick("", "", " * 3 - 1")
    return _function(f"activation_{name}", text, {"x": tensor(draw, *_large(draw)) + spread})


def _softmax(draw: Draw) -> Problem:
    shape = _large(draw)
    axis = draw.pick(1, -1)
    name = draw.pick("softmax", "log_softmax", "softmin")
    return _function(name, f"functional.{name}(x, dim={axis})", {"x": tensor(draw, *shape)})


def _norm(draw: Draw) -> Problem:
    form = draw.pick("batch", "instance", "group", "layer", "rms", "l1", "l2", "frobenius", "max")
    if form in ("batch", "instance", "group", "layer", "rms"):
        batch, groups = draw.size(8, 128, tiny=(2, 3)), draw.pick(4, 8, 16)
        channels = draw.size(32, 128, of=groups, tiny=(1, 2))
        side, other = draw.size(64, 512, odd=0.2), draw.size(64, 512)
        inputs = {"x": tensor(draw, batch, channels, side, other)}
        layer = {
            "batch": f"nn.BatchNorm2d({channels})",
            "instance": f"nn.InstanceNorm2d({channels}, affine={draw.chance(0.3)})",
            "group": f"nn.GroupNorm({groups}, {channels})",
            "layer": f"nn.LayerNorm(({channels}, {side}, {other}))",
        }
        if form in layer:
            return _function(f"{form}_norm", "self.norm(x)", inputs, f"self.norm = {layer[form]}")
        line = "x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5)"
        return _function("rms_norm", line, inputs)
    lines = {
        "l1": "x / torch.mean(torch.abs(x), dim=1, keepdim=True)",
        "l2": "x / torch.norm(x, p=2, dim=1, keepdim=True)",
        "frobenius": "x / torch.norm(x, p='fro')",
        "max": "x / x.abs().amax(dim=1, keepdim=True)",
    }
    return _function(f"{form}_norm", lines[form], {"x": tensor(draw, *_large(draw))})


def _pooling(draw: Draw) -> Problem:
    dims = draw.pick(1, 2, 3)
    size = draw.few(2, {1: 9, 2: 7, 3: 4}[dims])
    stride, padding = draw.pick(1, 2, size), draw.few(0, size // 2)
    reach = size
    if draw.chance(0.6):
        dilation = draw.pick(1, 1, 2, 3)
        reach = dilation * (size - 1) + 1
        name = "Max"
        text = f"nn.MaxPool{dims}d({size}, {stride}, {padding}, dilation={dilation})"
    else:
        name = "Avg"
        text = f"nn.AvgPool{dims}d({size}, {stride}, {padding})"
    low, high = {1: (8192, 131072), 2: (128, 1024), 3: (32, 128)}[dims]
    sides = [draw.size(low, high, tiny=(reach, reach + 6), odd=0.15) for _ in range(dims)]
    if draw.chance(0.4):
        sides = [sides[0]] * dims
    shape = (draw.size(8, 64, tiny=(1, 2)), draw.size(16, 128, tiny=(1, 4)), *sides)
    inputs = {"x": tensor(draw, *shape)}
    return _function(f"{name.lower()}_pool{dims}d", "self.pool(x)", inputs, f"self.pool = {text}")


_REDUCTIONS = {
    "sum": "torch.sum(x, dim={d}, keepdim={k})",
    "mean": "torch.mean(x, dim={d}, keepdim={k})",
    "max": "torch.max(x, dim={d}, keepdim={k})[0]",
    "min": "torch.min(x, dim={d}, keepdim={k})[0]",
    "argmax": "torch.argmax(x, dim={d}, keepdim={k})",
    "argmin": "torch.argmin(x, dim={d}, keepdim={k})",
    "var": "torch.var(x, dim={d}, keepdim={k})",
    "logsumexp": "torch.logsumexp(x, dim={d}, keepdim={k})",
    "prod": "torch.prod(x, dim={d}, keepdim={k})",
}


def _reduction(draw: Draw) -> Problem:
    name = draw.pick(*_REDUCTIONS)
    line = _REDUCTIONS[name].format(d=draw.pick(0, 1, 2), k=draw.chance(0.4))
    sizes = (draw.size(16, 256), draw.size(256, 4096, odd=0.2), draw.size(256, 4096, odd=0.2))
    x = tensor(draw, *sizes)
    # A product of many numbers below one is 0.
    return _function(f"reduce_{name}", line, {"x": f"{x} * 0.01 + 1" if name == "prod" else x})


def _scan(draw: Draw) -> Problem:
    rows, columns = draw.size(512, 32768, odd=0.1), draw.size(512, 32768, odd=0.1)
    axis = draw.weighted({1: 0.8, 0: 0.2})
    form = draw.pick("sum", "product", "reverse", "exclusive", "masked", "max")
    x = tensor(draw, rows, columns)
    inputs = {"x": f"{x} * 0.01 + 1" if form == "product" else x}
    if form == "masked":
        inputs["mask"] = f"torch.rand({rows}, {columns}) > {draw.number(0.2, 0.8)}"
    line = {
        "sum": f"torch.cumsum(x, dim={axis})",
        "product": f"torch.cumprod(x, dim={axis})",
        "reverse": f"torch.cumsum(x.flip({axis}), dim={axis}).flip({axis})",
        "exclusive": f"torch.cumsum(x, dim={axis}) - x",
        "masked": f"torch.cumsum(x * mask, dim={axis})",
        "max": f"torch.cummax(x, dim={axis})[0]",
    }[form]
    return _function(f"scan_{form}", line, inputs)


_LOSSES = {
    "mse": "functional.mse_loss(x, y)",
    "squares": "torch.mean((x - y) ** 2)",
    "huber": "functional.smooth_l1_loss(x, y)",
    "l1": "functional.l1_loss(x, y)",
    "kl": "functional.kl_div(torch.log_softmax(x, -1), y.softmax(-1), reduction='batchmean')",
    "hinge": "torch.mean(torch.clamp(1 - x * y, min=0))",
    "cosine": "torch.mean(1 - functional.cosine_similarity(x, y, dim=1))",
    "binary": "functional.binary_cross_entropy_with_logits(x, y.sigmoid())",
}


def _loss(draw: Draw) -> Problem:
    rows, columns = draw.size(1024, 32768), draw.size(512, 16384, odd=0.1)
    x, y = tensor(draw, rows, columns), tensor(draw, rows, columns)
    form = draw.pick(*_LOSSES, "cross_entropy", "triplet")
    if form == "cross_entropy":
        inputs = {"x": x, "y": f"torch.randint(0, {columns}, ({rows},))"}
        return _function("loss_cross_entropy", "functional.cross_entropy(x, y)", inputs)
    if form == "triplet":
        inputs = {"x": x, "y": y, "z": tensor(draw, rows, columns)}
        line = f"functional.triplet_margin_loss(x, y, z, margin={draw.number(0.5, 2)})"
        return _function("loss_triplet", line, inputs)
    return _function(f"loss_{form}", _LOSSES[form], {"x": x, "y": y})


def _attention(draw: Draw) -> Problem:
    heads, width = draw.size(8, 32, tiny=(1, 3)), draw.pick(32, 64, 128, 256)
    shape = (draw.size(2, 32, tiny=(1, 2)), heads, draw.size(256, 2048, odd=0.15), width)
    causal = ", is_causal=True" if draw.chance(0.4) else ""
    inputs = {name: tensor(draw, *shape) for name in "qkv"}
    return _function(
        "attention", f"functional.scaled_dot_product_attention(q, k, v{causal})", inputs
    )


_OPERATORS: dict[Callable[[Draw], Problem], float] = {
    _product: 11,
    _batched_product: 6,
    _special_product: 5,
    _convolution: 34,
    _activation: 11,
    _softmax: 2,
    _norm: 8,
    _pooling: 6,
    _reduction: 7,
    _scan: 5,
    _loss: 6,
    _attention: 2,
}


def operator(draw: Draw) -> Problem:
    """Returns a single operator."""
    return draw.weighted(_OPERATORS)(draw)

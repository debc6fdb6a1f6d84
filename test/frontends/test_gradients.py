"""Models that compute gradients, of their inputs and of their own parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F
from torch.utils import _pytree as pytree

import hirc


class _Step(nn.Module):
    """A step of training, and what else is asked of gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.LayerNorm(6), nn.Linear(6, 3))
        self.field = nn.Linear(4, 1)

    def forward(self, values: dict[str, Tensor], x: Tensor, labels: Tensor) -> Any:
        def loss(values: dict[str, Tensor], x: Tensor, labels: Tensor) -> Tensor:
            found = torch.func.functional_call(self.net, values, (x,))
            return F.cross_entropy(found, labels)

        def pooled(x: Tensor) -> Tensor:
            return F.max_pool2d(x.sin()[None, None], 2).square().sum()

        def field(x: Tensor) -> Tensor:
            return self.field(x).tanh().squeeze(-1)

        gradients, total = torch.func.grad_and_value(loss)(values, x, labels)
        each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(
            {name: value[: len(value)] for name, value in values.items()}, x, labels
        )
        with torch.enable_grad():
            point = x.detach().requires_grad_()
            (first,) = torch.autograd.grad(field(point).sum(), point, create_graph=True)
            of_weights = torch.autograd.grad(first.square().sum(), [*self.field.parameters()])
        return {
            "values": {name: values[name] - 0.1 * gradients[name] for name in values},
            "total": total,
            "each": each,
            "of pools": torch.func.grad(pooled)(x),
            "along": torch.func.jvp(field, (x,), (torch.ones_like(x),)),
            "of weights": of_weights,
        }


def test_gradients() -> None:
    torch.manual_seed(0)
    model = _Step()
    values = {name: value.detach() for name, value in model.net.named_parameters()}
    inputs = (values, torch.randn(4, 4), torch.tensor([0, 2, 1, 1]))
    found = hirc.compile(model, inputs, target="cpu", opt_level=0)
    # Other values than those that it was exported with: none is a constant.
    inputs = ({name: value * 0.5 for name, value in values.items()}, torch.randn(4, 4), inputs[2])
    ours, theirs = (pytree.tree_flatten(each(*inputs)) for each in (found, model))
    assert ours[1] == theirs[1]
    torch.testing.assert_close(ours[0], [each.detach() for each in theirs[0]])


def _of(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    def loss(x: Tensor) -> Tensor:
        y = function(x)
        # Each element counts otherwise.
        return (y * torch.arange(1, y.numel() + 1).reshape(y.shape) / y.numel()).sum()

    return torch.func.grad(loss)(x)


def _attended(mask: Tensor, x: Tensor) -> list[Tensor]:
    def attend(x: Tensor, **given: Any) -> Tensor:
        return F.scaled_dot_product_attention(x, x * 2, x + 1, **given)

    found = [_of(attend, x)]
    for given in ({"attn_mask": mask}, {"attn_mask": mask > 0}, {"is_causal": True, "scale": 0.3}):
        found.append(_of(partial(attend, **given), x))
    with torch.enable_grad():
        point = x.detach().requires_grad_()
        return [*found, *torch.autograd.grad(attend(point).cos().sum(), point)]


def _compared(model: Callable[..., Any], *inputs: Any, **given: Any) -> Any:
    net = hirc.compile(model, inputs, target="cpu", opt_level=0, cache=False, **given)
    torch.testing.assert_close(net(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)
    return net


def test_gradients_of_attention() -> None:
    torch.manual_seed(0)
    mask = torch.randn(5, 5).index_fill(1, torch.tensor([2]), 1.0)
    _compared(_attended, mask, torch.randn(1, 2, 5, 6))


def test_a_step_of_training_of_a_layer_with_attention() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).train()

    def step(values: dict[str, Tensor], x: Tensor) -> dict[str, Tensor]:
        def loss(values: dict[str, Tensor]) -> Tensor:
            return torch.func.functional_call(layer, values, (x,)).sin().sum()

        gradients = torch.func.grad(loss)(values)
        return {name: values[name] - 0.1 * gradients[name] for name in values}

    values = {name: value.detach() for name, value in layer.named_parameters()}
    _compared(step, values, torch.randn(2, 3, 8))


def _pooled(x: Tensor) -> list[Tensor]:
    functions: list[Callable[[Tensor], Tensor]] = [
        lambda x: F.avg_pool1d(x[0, 0], 3, 2, 1),
        lambda x: F.avg_pool2d(x[0], 3, 2, 1),
        lambda x: F.avg_pool2d(x[0], 3, 2, 1, ceil_mode=True, count_include_pad=False),
        lambda x: F.avg_pool2d(x[0, 0], (2, 3), ceil_mode=True),
        lambda x: F.avg_pool2d(x[0], 2, 3, divisor_override=3),
        lambda x: F.avg_pool3d(x, 2, 2, 1),
        lambda x: F.avg_pool3d(x[0], (1, 2, 3), ceil_mode=True, count_include_pad=False),
        lambda x: F.adaptive_avg_pool1d(x[0, 0], 3),
        lambda x: F.adaptive_avg_pool2d(x[0], (3, 16)),
        lambda x: F.adaptive_avg_pool2d(x[0, 0], (2, 11)),
        lambda x: F.adaptive_avg_pool3d(x, (2, 5, 1)),
        lambda x: F.adaptive_max_pool2d(x[0], 3),
        lambda x: F.adaptive_max_pool3d(x[0], (2, 3, 2)),
        lambda x: F.max_pool3d(x, 2, 1, 1),
        lambda x: F.pad(x[0, 0], (1, 2), mode="replicate"),
        lambda x: F.pad(x[0], (3, 0, 0, 2), mode="replicate"),
        lambda x: F.pad(x, (1, 2, 0, 1, 1, 1), mode="replicate"),
    ]
    return [_of(function, x) for function in functions]


def test_gradients_of_pools_and_padding() -> None:
    torch.manual_seed(0)
    _compared(_pooled, torch.randn(2, 2, 3, 7, 8))


def test_gradients_of_pools_of_open_sizes() -> None:
    def pooled(x: Tensor) -> list[Tensor]:
        return [
            _of(lambda x: F.avg_pool2d(x, 2, 2), x),
            _of(lambda x: F.adaptive_avg_pool2d(x, (7, 2)), x),
            _of(lambda x: F.pad(x, (1, 2, 1, 0), mode="replicate"), x),
        ]

    rows = Dim("rows", min=2, max=16)
    net = _compared(pooled, torch.randn(1, 6, 7, 8), dynamic_shapes=({1: rows},))
    x = torch.randn(1, 9, 7, 8)
    torch.testing.assert_close(net(x), pooled(x))


def _transposed(x: Tensor, weight: Tensor, bias: Tensor) -> list[Any]:
    def loss(given: tuple[Tensor, Tensor, Tensor], **how: Any) -> Tensor:
        x, weight, bias = given
        made = [
            F.conv_transpose1d(x[..., 0], weight[0, ..., 0], bias, **how),
            F.conv_transpose2d(x, weight[0], bias, **how),
            F.conv_transpose2d(x, weight[0], None, groups=2, **how),
            F.conv_transpose2d(x, weight[0], None, groups=4, **how),
            F.conv_transpose3d(x[None], weight[0, :2, :, None], None),
        ]
        return sum((each.sin().sum() for each in made), torch.zeros(()))

    return [
        torch.func.grad(partial(loss, **how))((x, weight, bias))
        for how in (
            {},
            {"stride": 2, "padding": 1, "output_padding": 1},
            {"dilation": 2, "padding": 1},
        )
    ]


def test_gradients_of_transposed_convolutions() -> None:
    torch.manual_seed(0)
    _compared(_transposed, torch.randn(2, 4, 5, 6), torch.randn(1, 4, 3, 3, 2), torch.randn(3))


def _in_groups(x: Tensor, weight: Tensor, each: Tensor) -> list[Any]:
    def loss(given: tuple[Tensor, Tensor, Tensor], **how: Any) -> Tensor:
        x, weight, each = given
        made = F.conv2d(x, weight, groups=2, **how), F.conv2d(x, each, groups=4, **how)
        return made[0].sin().sum() + made[1].cos().sum()

    return [
        torch.func.grad(partial(loss, **how))((x, weight, each))
        for how in ({}, {"stride": 2, "padding": 1}, {"dilation": 2})
    ]


def test_gradients_of_convolutions_in_groups() -> None:
    torch.manual_seed(0)
    _compared(_in_groups, torch.randn(2, 4, 7, 6), torch.randn(4, 2, 3, 2), torch.randn(8, 1, 2, 2))


class _Recording(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        point = x.detach().requires_grad_()
        y = self.layer(point).tanh()
        return (*torch.autograd.grad(y.sum(), [point, self.layer.weight]), y.detach())


@pytest.mark.parametrize("inner", [torch.enable_grad, None])
def test_gradients_where_the_caller_records(inner: Callable[..., Any] | None) -> None:
    torch.manual_seed(0)
    model = _Recording()
    if inner is not None:
        model.forward = inner()(model.forward)
    _compared(model, torch.randn(4, 3))

"""Models that compute gradients, of their inputs and of their own parameters."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
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

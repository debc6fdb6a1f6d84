"""torch modules: whole networks compute what torch does, and so do single operations."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import hirc
from hirc.compiler.errors import UnsupportedError
from hirc.frontends.torch.import_model import import_model
from hirc.tools.check_models.compare import distance

_F32 = 2e-6


def _computed(model: nn.Module, *inputs: Any, level: int = 2) -> list[Tensor]:
    """What a model's library gives of these inputs."""
    artifact = hirc.compile(model.eval(), inputs, target="cpu", opt_level=level)
    outputs = artifact(*inputs)
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


class _Operations(nn.Module):
    """What is taken apart before torch-mlir sees it."""

    def forward(self, x: Tensor, index: Tensor, source: Tensor) -> tuple[Tensor, ...]:
        half = x.to(torch.bfloat16)
        many = torch.where(x > 1, math.nan, x.round())
        return (
            nn.functional.gelu(x, approximate="tanh"),
            nn.functional.gelu(half, approximate="tanh"),
            x.var(),
            x.var(1, correction=0),
            half.var(-1, keepdim=True),
            *torch.var_mean(x + 100, (0, 2)),
            *x.topk(3, 1),
            # Which of equal elements it takes, torch does not say.
            many.topk(2, -1, largest=False).values,
            *torch.sort(many, dim=0, stable=True, descending=True),
            torch.sort(x > 0, stable=True).indices,
            x.scatter(1, index, source),
            x.scatter(-1, index.clamp(max=2).mT, 7.0),
            # Products of bf16 with a bias, written in f32 by torch-mlir.
            nn.functional.linear(half, half[0], half[0, :, 0]),
            # Depthwise convolutions that torch-mlir does not lower: of three dims, and transposed.
            nn.functional.conv3d(
                x[None, :, None], x[:, None, :2, None, :3], x[:, 0, 0], (1, 2, 1), (1, 1, 2), 1, 3
            ),
            nn.functional.conv_transpose1d(half, half[0, :, None, :3], half[0, :, 0], 2, 1, 1, 5),
            # No element of what is divided by is asserted to be other than 0.
            torch.reciprocal(x.round()),
        )


def test_depthwise_of_three_dims_is_one_sum() -> None:
    """It reads the image itself, rather than copies that lie behind one another."""

    class Depthwise(nn.Module):
        def forward(self, x: Tensor, w: Tensor) -> Tensor:
            return nn.functional.conv3d(x, w, padding=1, groups=3)

    text = import_model(Depthwise(), (torch.ones(2, 3, 4, 5, 6), torch.ones(3, 1, 3, 3, 3))).text
    assert text.count('"reduction"') == 3
    assert "tensor.concat" not in text


def test_operations() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 5, 4) * 2
    # Twice the same place: the last one counts.
    index = torch.tensor([[4, 1], [0, 0]]).repeat(3, 1, 2)
    inputs = (x, index, torch.randn(3, 2, 4))
    found = _computed(_Operations(), *inputs, level=0)
    wanted = _Operations()(*inputs)
    assert len(found) == len(wanted)
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), number
        bound = 2**-7 if theirs.dtype == torch.bfloat16 else _F32 * theirs.is_floating_point()
        assert distance(ours, theirs) <= bound, number


class _Blurred(nn.Module):
    """Means of neighbours along two axes, which are one kernel, and along a third."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        means: list[Tensor] = []
        for axis in range(3):
            one, other = (x.narrow(axis, first, x.shape[axis] - 1) for first in (0, 1))
            x = (one + other) * 0.5
            means.append(x)
        halves = (means[-1] * 2).chunk(2, 0)
        return means[-1], halves[0] * halves[1]


def test_parts() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, 18, 23)
    for found, wanted in zip(_computed(_Blurred(), x), _Blurred()(x.double()), strict=True):
        assert distance(found, wanted) < _F32


class _Held(nn.Module):
    """Weights, a buffer that is not saved, a tensor that is no buffer, and numbers as inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.register_buffer("shift", torch.tensor([0.5, 0.25]), persistent=False)
        self.factor = torch.arange(130.0).reshape(2, 65)
        self.small = torch.tensor([3.0, 5.0])

    def forward(self, x: dict[str, Tensor], power: int) -> Tensor:
        y = x["b"] * self.weight**power + self.get_buffer("shift") - x["a"] * self.small
        return y @ self.factor


def test_masks_of_transformers_are_inputs() -> None:
    torch.manual_seed(0)
    model = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True).requires_grad_(False)
    given = torch.randn(1, 4, 8), torch.randn(1, 3, 8)
    for mask in (nn.Transformer.generate_square_subsequent_mask(3), torch.randn(3, 3)):
        artifact = hirc.compile(model.eval(), given, {"tgt_mask": mask}, target="cpu", opt_level=0)
        torch.testing.assert_close(
            artifact(*given, tgt_mask=mask), model(*given, tgt_mask=mask), rtol=1e-5, atol=1e-5
        )


def test_weights_are_arguments() -> None:
    model = _Held()
    imported = import_model(model, ({"a": torch.ones(2), "b": torch.ones(2)}, 2))
    assert imported.arguments == (0, 1, "weight", "shift", "factor")
    assert imported.weights["factor"].data_ptr() == model.factor.data_ptr()
    inputs, _, rest = imported.text.partition("@main(")[2].partition("->")
    assert inputs.count(": tensor<2xf32>") == 4
    # Small constants are part of the program.
    assert "0x040000000000404000 00A040".replace(" ", "") in rest


class _Deciding(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 1 if x.sum().item() > 0 else x


class _Sorting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.eig(x)[0]


class _Unsigned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.to(torch.uint64).float()


class _ReadByBytes(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[x[0].to(torch.uint8)]


class _WrittenByBytes(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.index_put((x[0].to(torch.uint8),), x[0])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (_ReadByBytes(), "indices must be long"),
        (_WrittenByBytes(), "elements of an unsigned type are no indices"),
        (_Deciding(), "torch cannot export the model: "),
        (_Sorting(), "torch-mlir cannot lower the model: 'aten.linalg_eig' has no lowering"),
        (_Unsigned(), "elements of type uint64 are not supported"),
    ],
    ids=["read by bytes", "written by bytes", "decides", "unknown", "unsigned"],
)
def test_refusals(model: nn.Module, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said) as raised:
        import_model(model, (torch.ones(3, 3),))
    position = raised.value.position
    assert position is not None
    assert position.file == __file__

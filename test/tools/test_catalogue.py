"""Every network of the catalogue, tiny, computes what torch does: in f32 with known sizes, in
bf16 or f16 with open ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

import hirc
from hirc.tools.check_models.catalogue import NETWORKS, Network, made, other_inputs
from hirc.tools.check_models.compare import distance

_BOUNDS = {torch.float32: 2e-6, torch.bfloat16: 1e-2, torch.float16: 1e-2}
# Networks with open sizes are there with known ones too, in f32.
_NARROW = ("bf16", "f16")


def _dtype(network: Network) -> str | None:
    return _NARROW[NETWORKS.index(network) % 2] if network.open_sizes else None


def _tensors(outputs: Any) -> list[Tensor]:
    return [each for each in pytree.tree_leaves(outputs) if isinstance(each, Tensor)]


def _wide(inputs: Any) -> Any:
    def converted(x: Any) -> Any:
        return x.double() if isinstance(x, Tensor) and x.is_floating_point() else x

    return pytree.tree_map(converted, inputs)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_network(network: Network, tmp_path: Path) -> None:
    description = {"name": network.name, "tiny": True, "dtype": _dtype(network)}
    model, inputs = made(description, tmp_path)
    shapes, level = (network.open_sizes(True), 1) if network.open_sizes else (None, 2)
    ours = hirc.compile(
        model, inputs, dynamic_shapes=shapes, target="cpu", opt_level=level, cache=False
    )
    # Each keeps state of its own.
    theirs, exact = (made(description, tmp_path)[0] for _ in range(2))
    for given in (inputs, *other_inputs(description, tmp_path)):
        found = _tensors(network.drive(ours, *given))
        eager = _tensors(network.drive(theirs, *given))
        wanted = _tensors(network.drive(exact.double(), *_wide(given)))
        for mine, other, reference in zip(found, eager, wanted, strict=True):
            assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
            if mine.is_floating_point():
                assert distance(mine, reference) < _BOUNDS[mine.dtype]
            else:
                # Numbers of tokens are torch's: in f64 others may be the likeliest.
                assert torch.equal(mine, other)

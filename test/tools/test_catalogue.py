"""Every network of the catalogue, tiny, computes what torch does: in f32 with known sizes, in
bf16 or f16 with open ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import hirc
from hirc.tools.check_models.catalogue import NETWORKS, Network, made, other_inputs
from hirc.tools.check_models.compare import Copy, distance, tensors_of

_BOUNDS = {torch.float32: 2e-6, torch.bfloat16: 1e-2, torch.float16: 1e-2}
# Networks with open sizes are there with known ones too, in f32.
_NARROW = ("bf16", "f16")


def _dtype(network: Network) -> str | None:
    return _NARROW[NETWORKS.index(network) % 2] if network.open_sizes else None


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_network(network: Network, tmp_path: Path) -> None:
    description = {"name": network.name, "tiny": True, "dtype": _dtype(network)}
    model, inputs = made(description, tmp_path)
    # With open sizes an operation has tens of kernels: LLVM's optimisation, which those of known
    # sizes have, would take a third of the time.
    shapes, level = (network.open_sizes(True), 0) if network.open_sizes else (None, 2)
    ours = hirc.compile(
        model,
        inputs,
        dynamic_shapes=shapes,
        target="cpu",
        opt_level=level,
        schedules="tuned",
        cache=False,
    )
    # Each keeps state of its own.
    theirs, exact = (Copy(model, wide=wide) for wide in (False, True))
    for given in (inputs, *other_inputs(description, tmp_path)):
        found = tensors_of(network.drive(ours, *given))
        eager = tensors_of(network.drive(theirs.call, *given))
        wanted = exact.reference(network.drive, given)
        assert wanted is not None
        for mine, other, reference in zip(found, eager, wanted, strict=True):
            assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
            if mine.is_floating_point():
                assert distance(mine, reference) < _BOUNDS[mine.dtype]
            else:
                # Numbers of tokens are torch's: in f64 others may be the likeliest.
                assert torch.equal(mine, other)

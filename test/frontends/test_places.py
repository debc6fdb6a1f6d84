"""torch modules that write to computed places: of any sizes, of none, and where masks say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.export import Dim

from hirc.compiler.loader import load
from hirc.frontends.torch.import_model import ImportedModel, import_model
from hirc.tools.hirc import main as hirc

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("places")

_WIDTH = 3
Library = tuple[ImportedModel, Callable[..., tuple[Tensor, ...]]]


class _Places(nn.Module):
    """What is written to rows, columns and elements, and added to them."""

    def forward(
        self, x: Tensor, rows: Tensor, values: Tensor, places: Tensor
    ) -> tuple[Tensor, ...]:
        column = torch.tensor([-1, 0], device=x.device)
        written = x.clone()
        written[:, column] = values.sum()
        rows_apart = torch.arange(values.shape[0], device=x.device).flip(0)[:, None]
        filled = x.clone()
        filled[x > 0] = 7.0
        whole = (values * 8).round().long()
        return (
            x.index_put((rows,), values, accumulate=True),
            x.index_add(0, rows.remainder(x.shape[0]), values.to(torch.bfloat16).float()),
            x.to(torch.bfloat16).index_add(0, places[:, 0], values.to(torch.bfloat16)),
            x.scatter_add(0, places, values),
            x.scatter_reduce(0, places, values, "amax"),
            x.long().scatter_reduce(0, places, whole, "prod"),
            written,
            filled,
            x.index_copy(0, torch.arange(values.shape[0], device=x.device), values),
            # Places that differ: of several values for one it takes any.
            x.scatter(0, rows_apart + places * 0, values),
            x.nonzero(),
            x.masked_select(x > 0),
            torch.histc(x, 4, -2.0, 2.0),
        )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The compiled module, and what it is given besides its inputs."""
    folder = tmp_path_factory.mktemp("places")
    size, count = Dim("size", min=1, max=64), Dim("count", max=64)
    inputs = _inputs(4, 3, 0)
    shapes = ({0: size}, {0: count}, {0: count}, {0: count})
    imported = import_model(_Places(), inputs, dynamic_shapes=shapes)
    source, built = folder / "model.mlir", folder / "libmodel.so"
    source.write_text(imported.text)
    words = [str(source), "-o", str(built), "--emit=shared", "--offload-arch=cpu", "-O0"]
    assert hirc(words) == 0
    return imported, load(built).main


def _inputs(size: int, count: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(size, _WIDTH, generator=generator).round(decimals=1)
    values = torch.randn(count, _WIDTH, generator=generator)
    rows = torch.randint(-size, size, (count,), generator=generator)
    places = torch.randint(0, size, (count, _WIDTH), generator=generator)
    return x, rows, values, places


@settings(max_examples=12, deadline=None, derandomize=True)
@given(size=st.integers(1, 40), count=st.integers(0, 40), seed=st.integers(0, 99))
def test_places(library: Library, size: int, count: int, seed: int) -> None:
    inputs = _inputs(size, min(count, size), seed)
    imported, function = library
    found = function(
        *(
            inputs[each] if isinstance(each, int) else imported.weights[each]
            for each in imported.arguments
        )
    )
    wanted = _Places()(*inputs)
    assert len(found) == len(wanted)
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        bound = 2**-5 if theirs.dtype == torch.bfloat16 else 1e-5
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), number
        assert torch.allclose(ours.double(), theirs.double(), bound, bound), number

"""torch modules whose sizes are known when they run: attention, views, and sorts."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from hirc.compiler.errors import HircError
from hirc.compiler.loader import load
from hirc.frontends.torch.import_model import import_model
from hirc.tools.hirc import main as hirc

_attention = nn.functional.scaled_dot_product_attention


class _Open(nn.Module):
    """Attention of every form, views that merge and split open dims, and sorts along these."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        batch, heads, length, width = q.shape
        half = q.to(torch.bfloat16), k.to(torch.bfloat16), v.to(torch.bfloat16)
        return (
            _attention(q, k, v),
            _attention(q, k, v, is_causal=True, scale=0.3),
            _attention(q, k, v, mask),
            _attention(q, k, v, torch.where(mask, 0.5, -torch.inf)),
            _attention(q, k[:, :2], v[:, :2], mask, enable_gqa=True),
            _attention(*half, is_causal=True),
            q.view(-1, width),
            q.reshape(batch * length, heads, width),
            q.transpose(1, 2).reshape(batch, length, -1),
            q.reshape(batch, 2, 2, length, width),
            q.sum(-1).reshape(batch, 1, heads, length),
            q[:, 0].flatten(),
            *k.sort(dim=2, stable=True),
            k.argsort(-2, descending=True),
            *torch.where(k > 1, torch.nan, k.round()).sort(dim=2, stable=True),
            *(k > 0).sort(dim=2, stable=True, descending=True),
            *k.long().sort(dim=2, stable=True, descending=True),
            v.topk(1, 2).values,
        )


def _inputs(batch: int, rows: int, columns: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    mask = torch.rand(batch, 1, rows, columns) > 0.5
    mask[0, 0, 0] = False
    keys, values = torch.randn(batch, 4, columns, 8), torch.randn(batch, 4, columns, 3)
    return torch.randn(batch, 4, rows, 8), keys, values, mask


def test_open_sizes(tmp_path: Path) -> None:
    batch, rows, columns = Dim("batch", max=8), Dim("rows", max=64), Dim("columns", max=64)
    shapes = (
        {0: batch, 2: rows},
        {0: batch, 2: columns},
        {0: batch, 2: columns},
        {0: batch, 2: rows, 3: columns},
    )
    imported = import_model(_Open(), _inputs(2, 6, 5), dynamic_shapes=shapes)
    source, library = tmp_path / "model.mlir", tmp_path / "libmodel.so"
    source.write_text(imported.text)
    words = [str(source), "-o", str(library), "--emit=shared", "--offload-arch=cpu", "-O0"]
    assert hirc(words) == 0
    function = load(library).main
    for sizes in ((2, 6, 5), (1, 3, 37), (3, 1, 1)):
        inputs = _inputs(*sizes)
        found = function(
            *(
                inputs[each] if isinstance(each, int) else imported.weights[each]
                for each in imported.arguments
            )
        )
        wanted = _Open()(*inputs)
        for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
            bound = 2**-6 if theirs.dtype == torch.bfloat16 else 1e-5
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), (sizes, number)
            same = torch.allclose(ours.double(), theirs.double(), bound, bound, equal_nan=True)
            assert same, (sizes, number)


def test_sizes_of_one_are_open() -> None:
    batch = Dim("batch", min=1, max=8)

    def pairs(x: Tensor, y: Tensor) -> Tensor:
        return (x + y[: x.shape[0]]).sum(1)

    shapes = {"x": {0: batch}, "y": {0: 2 * batch}}
    imported = import_model(pairs, (torch.ones(1, 4), torch.ones(2, 4)), dynamic_shapes=shapes)
    assert "%arg0: tensor<?x4xf32>" in imported.text

    # A size that another input has otherwise is not one to choose.
    def total(x: Tensor, y: Tensor) -> Tensor:
        return x + y

    with pytest.raises(HircError):
        import_model(
            total,
            (torch.ones(1, 4), torch.ones(2, 4)),
            dynamic_shapes={"x": {0: batch}, "y": {0: batch}},
        )

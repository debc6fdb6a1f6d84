"""Attention as models write it: each of them is one kernel, which reads heads where they lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import hirc
from hirc.compiler.loader import load
from hirc.frontends.torch.import_model import import_model
from hirc.tools.hirc import main as run_hirc
from support.stages import text_after

_attention = nn.functional.scaled_dot_product_attention
_HEADS, _HEAD = 4, 16


class _Model(nn.Module):
    """Of queries, keys and values that one product has made."""

    def forward(self, made: Tensor) -> tuple[Tensor, ...]:
        batch, length, width = made.shape[0], made.shape[1], _HEADS * _HEAD
        parts = made.split(width, dim=2)
        q, k, v = (each.view(batch, length, _HEADS, _HEAD).transpose(1, 2) for each in parts)
        causal = _attention(q, k, v, is_causal=True)
        here = torch.arange(length)
        near = (here <= here[:, None]) & (here > here[:, None] - 4)
        other = torch.roll(q, 1, 2)
        return (
            causal.transpose(1, 2).contiguous().view(batch, length, width),
            _attention(other, k, v, attn_mask=near),
            _by_hand(q * 2, _repeated(k[:, :2]), _repeated(v[:, :2])),
            _attention(*self._reshaped(made)),
        )

    @staticmethod
    def _reshaped(made: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, length, _ = made.shape
        parts = made.reshape(batch, length, 3, _HEADS, _HEAD).permute(2, 0, 3, 1, 4)
        return parts[0], parts[1], parts[2]


def _repeated(x: Tensor) -> Tensor:
    """Each head twice."""
    batch, heads, length, width = x.shape
    return x[:, :, None].expand(batch, heads, 2, length, width).reshape(batch, -1, length, width)


def _by_hand(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) / _HEAD**0.5
    hidden = torch.tril(torch.ones(q.shape[2], k.shape[2])) == 0
    return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v


def test_attention(tmp_path: Path) -> None:
    torch.manual_seed(0)
    made = torch.randn(2, 21, 3 * _HEADS * _HEAD, dtype=torch.bfloat16)
    imported = import_model(_Model(), (made,))
    source, fused = tmp_path / "attention.mlir", tmp_path / "fused.mlir"
    source.write_bytes(imported.bytecode)
    assert (
        run_hirc([str(source), "-o", str(fused), "--offload-arch=cpu", "--stop-after=fusion"]) == 0
    )
    text = fused.read_text()
    assert text.count('"reduction", "reduction"') == 4
    assert text.count("math.exp") == 4
    library = tmp_path / "libattention.so"
    words = [str(source), "-o", str(library), "--emit=shared", "--offload-arch=cpu", "-O0"]
    assert run_hirc(words) == 0
    found = load(library).main(made)
    wanted = _Model()(made.double())
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        assert torch.allclose(ours.double(), theirs, 2**-6, 2**-7), number


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_attention_that_functions_modify_and_mask() -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 4, 12, 8), torch.randn(2, 2, 16, 8), torch.randn(2, 2, 16, 6)
    slopes, lengths = torch.rand(4), torch.tensor([16, 5])
    given = create_block_mask(lambda b, h, i, j: i >= j, None, None, 12, 16, device="cpu")

    def model(
        q: Tensor, k: Tensor, v: Tensor, slopes: Tensor, lengths: Tensor
    ) -> tuple[Tensor, ...]:
        def near(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            # The first queries of the second batch see no key.
            return (i >= j) & (i - j < 4) & (j < lengths[b]) & ((b == 0) | (i > 2))

        def bent(s: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return 5 * torch.tanh(s / 5) + slopes[h] * (j - i)

        mask = create_block_mask(near, 2, None, 12, 16, device="cpu")
        return (
            flex_attention(q, k, v, score_mod=bent, enable_gqa=True, scale=0.5),
            flex_attention(q, k, v, bent, mask, enable_gqa=True),
            flex_attention(q[:, :2], k, v, block_mask=given),
            _attention(q, k, v.repeat(1, 2, 1, 1), enable_gqa=True),
        )

    inputs = (q, k, v, slopes, lengths)
    found = hirc.compile(model, inputs, target="cpu", opt_level=0)(*inputs)
    for number, (ours, theirs) in enumerate(zip(found, model(*inputs), strict=True)):
        assert torch.allclose(ours, theirs, 1e-4, 1e-5), number


def test_attention_to_a_number_that_is_repeated() -> None:
    """Keys that are one number everywhere: behind them is a tensor without dims."""

    def model(q: Tensor, v: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        scores = q @ (key.expand(q.shape) * 0.5).mT
        return scores.softmax(-1) @ v, (q @ key.expand(q.shape).mT).softmax(-1) @ v

    torch.manual_seed(0)
    given = torch.randn(2, _HEADS, 21, _HEAD), torch.randn(2, _HEADS, 21, _HEAD), torch.tensor(0.3)
    found = hirc.compile(model, given, target="cpu", cache=False)(*given)
    for result, wanted in zip(found, model(*given), strict=True):
        torch.testing.assert_close(result, wanted, rtol=1e-5, atol=1e-5)


_BATCH, _PAGES, _PAGE, _WIDTH = 2, 9, 6, 64
_Given = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def _given(element: torch.dtype, heads: int, rows: int) -> _Given:
    """Queries, a cache of keys and one of values in pages, pages of sequences, and lengths."""
    torch.manual_seed(0)
    keys, values = (torch.randn(20, _PAGE, 2, _WIDTH, dtype=element) for _ in range(2))
    queries = torch.randn(_BATCH, heads, rows, _WIDTH, dtype=element)
    table = torch.randint(-20, 20, (_BATCH, _PAGES))
    return queries, keys, values, table, torch.tensor([_PAGES * _PAGE, 20])


def _attend(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """The last rows of sequences see what comes before them."""
    k, v = (each.flatten(1, 2).transpose(1, 2) for each in (k, v))
    here = lengths[:, None] - q.shape[2] + torch.arange(q.shape[2])
    seen = torch.arange(k.shape[2]) <= here[:, None, :, None]
    return _attention(q, k, v, attn_mask=seen, enable_gqa=q.shape[1] != k.shape[1])


def _paged(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    return _attend(q, k[table], v[table], lengths)


def _selected(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    table = torch.where(table < 0, table + 20, table)
    k, v = (
        each.index_select(0, table.flatten()).view(_BATCH, -1, _PAGE, 2, _WIDTH) for each in (k, v)
    )
    return _attend(q, k, v, lengths)


def _slots(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    places = (table % 20)[:, :, None] * _PAGE + torch.arange(_PAGE)
    k, v = (each.flatten(0, 1)[places] for each in (k, v))
    return _attend(q, k, v, lengths)


def _heads_first(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    k, v = (each.transpose(1, 2).contiguous()[table].transpose(2, 3) for each in (k, v))
    return _attend(q, k, v, lengths)


def _two_tables(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    return _attend(q, k[table], v[table.flip(0)], lengths)


def _keys_alone(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    return _attend(q, k[table], v[:18].view(_BATCH, _PAGES, _PAGE, 2, _WIDTH), lengths)


def _turned_heads(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    order = torch.arange(_WIDTH - 1, -1, -1)
    return _attend(q, k[table][..., order], v[table][..., order], lengths)


@pytest.mark.parametrize(
    ("model", "given", "copies"),
    [
        (_paged, _given(torch.bfloat16, 2, 1), 0),
        (_paged, _given(torch.float16, 8, 3), 0),
        (_paged, _given(torch.float32, 2, 2), 0),
        (_heads_first, _given(torch.bfloat16, 2, 5), 0),
        (_keys_alone, _given(torch.bfloat16, 8, 1), 0),
        # Tables are made.
        (_selected, _given(torch.bfloat16, 8, 1), 1),
        (_slots, _given(torch.bfloat16, 2, 1), 2),
        (_two_tables, _given(torch.bfloat16, 2, 1), 1),
        # Many rows read what was loaded: keys, which torch turns, from a copy of rows.
        (_paged, _given(torch.bfloat16, 8, 40), 3),
        # Of elements in another order no row is read as it lies: several operations.
        (_turned_heads, _given(torch.bfloat16, 2, 1), 5),
    ],
)
def test_pages_of_a_cache_are_read_where_they_lie(
    model: Callable[..., Tensor], given: _Given, copies: int, tmp_path: Path
) -> None:
    text = text_after("fusion", model, given, tmp_path)
    assert text.count("linalg.generic") == 1 + copies
    found = hirc.compile(
        model, given, target="cpu", opt_level=0, schedules="tuned", checks=["memory", "race"]
    )(*given)
    wanted = model(*(each.double() if each.is_floating_point() else each for each in given))
    bound = 1e-5 if given[0].dtype == torch.float32 else 2**-6
    torch.testing.assert_close(found.double(), wanted, rtol=bound, atol=bound)


def _powers(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    scores = (q @ k.mT).float() / 4
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers, powers.sum(-1, keepdim=True)


def _later(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    powers, total = _powers(q, k)
    return (powers.to(v.dtype) @ v / total).to(v.dtype)


def _later_in_heads(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    powers, total = _powers(q, k)
    sums = torch.einsum("bhij,bhjn->bihn", powers.to(v.dtype), v)
    return (sums / total.transpose(1, 2)).to(v.dtype).flatten(2)


def _of_other_rows(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    powers, total = _powers(q, k)
    return powers.to(v.dtype) @ v / total.transpose(1, 2)


def _of_other_powers(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    powers, _ = _powers(q, k)
    return powers.to(v.dtype) @ v / (powers * powers).sum(-1, keepdim=True)


def _the_other_way(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    powers, total = _powers(q, k)
    return total / (powers.to(v.dtype) @ (v * v))


def _twice(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    powers, total = _powers(q, k)
    return powers.to(v.dtype) @ v / total + total


def _total_alone(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    powers, total = _powers(q, k)
    return powers.to(v.dtype) @ v * total


@pytest.mark.parametrize("element", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("model", "is_one"),
    [
        (_later, True),
        (_later_in_heads, True),
        (_of_other_rows, False),
        (_of_other_powers, False),
        (_the_other_way, False),
        (_twice, False),
        (_total_alone, False),
    ],
)
def test_powers_are_divided_after_they_are_multiplied(
    model: Callable[..., Tensor], is_one: bool, element: torch.dtype, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    given = tuple(torch.randn(2, 4, 4, 16, dtype=element) for _ in range(3))
    text = text_after("fusion", model, given, tmp_path)
    assert ('"reduction", "reduction"' in text) == is_one
    found = hirc.compile(model, given, target="cpu", opt_level=0, schedules="tuned")(*given)
    wanted = model(*(each.double() for each in given))
    bound = 1e-5 if element == torch.float32 else 2**-5
    torch.testing.assert_close(found.double(), wanted.double(), rtol=bound, atol=bound)


def _across_images(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """An image's places attend to another's: channels first, values before their weights."""
    weights = (q.flatten(2).mT @ k.flatten(2) * 0.25).softmax(-1)
    return (v.flatten(2) @ weights.mT).unflatten(2, q.shape[2:])


def _added_to_images(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _across_images(q, k, v) * 0.5 + q


def _tokens_of_images(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q.flatten(2).mT @ k.flatten(2) * 0.25).softmax(-1) @ v.flatten(2).mT


def _heads_of_images(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (each.flatten(2).unflatten(1, (2, -1)) for each in (q, k, v))
    weights = torch.einsum("bhdi,bhdj->bhij", q, k * 0.25).softmax(-1)
    return torch.einsum("bhij,bhdj->bhdi", weights, v).flatten(1, 2)


def _hidden_places(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    seen = k.flatten(2)[:, :1] > -1
    scores = (q.flatten(2).mT @ k.flatten(2) * 0.25).masked_fill(~seen, -torch.inf)
    return v.flatten(2) @ scores.softmax(-1).mT


def _rows_of_images(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Each row of an image by itself: its places are not one with others'."""
    q, k, v = (each.permute(0, 2, 1, 3) for each in (q, k, v))
    return (v @ (q.mT @ k * 0.25).softmax(-1).mT).permute(0, 2, 1, 3)


@pytest.mark.parametrize("element", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("is_open", [False, True], ids=["known", "open"])
@pytest.mark.parametrize(
    "model",
    [
        *(_across_images, _added_to_images, _tokens_of_images, _heads_of_images),
        *(_hidden_places, _rows_of_images),
    ],
)
@pytest.mark.parametrize(
    ("places", "others"),
    [((12, 8), (12, 8)), ((8, 10), (4, 5)), ((4, 5), (4, 5))],
    ids=["many", "pooled", "few"],
)
def test_places_of_images(
    model: Callable[..., Tensor],
    places: tuple[int, int],
    others: tuple[int, int],
    element: torch.dtype,
    is_open: bool,
    tmp_path: Path,
) -> None:
    """One kernel, whatever lies together: many queries have copies whose heads lie in rows."""
    if model is _rows_of_images and places != others:
        pytest.skip("rows are of one length")
    torch.manual_seed(0)
    given = tuple(torch.randn(2, 32, *sizes, dtype=element) for sizes in (places, others, others))
    sizes = tuple({0: Dim("batch", max=512)} for _ in given) if is_open else None
    text = text_after("schedules", model, given, tmp_path, dynamic_shapes=sizes)
    kernels = [line for line in text.splitlines() if "gpu.func" in line]
    if model is not _rows_of_images:
        assert not any('family = "contraction"' in line for line in kernels)
        first = next(line for line in kernels if 'family = "attention"' in line)
        assert ('layout = "rows"' in first) == (places != (4, 5))
    found = hirc.compile(
        model, given, target="cpu", opt_level=0, schedules="tuned", dynamic_shapes=sizes
    )(*given)
    wanted = model(*(each.double() for each in given))
    bound = 1e-5 if element == torch.float32 else 2**-6
    torch.testing.assert_close(found.double(), wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("element", [torch.float32, torch.bfloat16], ids=str)
def test_scores_have_a_dim_for_each_of_an_image(element: torch.dtype, tmp_path: Path) -> None:
    """The softmax goes along an image's rows and columns, which are one dim of keys."""
    height, width = 6, 8

    def model(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        scores = (q.flatten(1, 2) @ k.flatten(1, 2).mT * 0.25).unflatten(2, (height, width))
        scores = scores.unflatten(1, (height, width)) + bias
        return scores.flatten(3).softmax(-1).flatten(1, 2) @ v.flatten(1, 2)

    torch.manual_seed(0)
    sizes = (2, height, width, 32)
    given = tuple(torch.randn(sizes, dtype=element) for _ in range(3))
    given = (*given, torch.randn(height, width, height, width, dtype=element))
    text = text_after("schedules", model, given, tmp_path)
    kernels = [line for line in text.splitlines() if "gpu.func" in line]
    assert all('family = "attention"' in line for line in kernels)
    found = hirc.compile(model, given, target="cpu", opt_level=0, schedules="tuned")(*given)
    wanted = model(*(each.double() for each in given))
    bound = 1e-5 if element == torch.float32 else 2**-6
    torch.testing.assert_close(found.double(), wanted, rtol=bound, atol=bound)


def _around_pixels(x: Tensor) -> Tensor:
    """What each pixel finds in the 3x3 pixels around it, by its own channels."""
    batch, channels, *sizes = x.shape
    around = nn.functional.unfold(x, 3, padding=1).view(batch, channels, 9, -1)
    weights = (x.flatten(2)[:, :, None] * around).sum(1).softmax(1)
    return (around * weights[:, None]).sum(2).view(batch, channels, *sizes)


def _decoded(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One query a head, whose keys lie in rows."""
    return ((q[:, None] @ k.mT).softmax(-1) @ v)[:, 0]


@pytest.mark.parametrize(
    ("model", "shapes", "is_fused"),
    [
        (_around_pixels, [(2, 8, 6, 10)], False),
        (_decoded, [(6, 16), (6, 20, 16), (6, 20, 16)], True),
    ],
    ids=["pixels", "decoded"],
)
def test_heads_of_one_row(
    model: Callable[..., Tensor], shapes: list[tuple[int, ...]], is_fused: bool, tmp_path: Path
) -> None:
    """Where neighbours in memory belong to different heads, kernels along these read them."""
    torch.manual_seed(0)
    given = tuple(torch.randn(*shape) for shape in shapes)
    text = text_after("schedules", model, given, tmp_path)
    assert ('family = "attention"' in text) == is_fused
    found = hirc.compile(model, given, target="cpu", opt_level=0, schedules="tuned")(*given)
    torch.testing.assert_close(found, model(*given), rtol=1e-5, atol=1e-5)

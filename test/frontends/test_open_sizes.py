"""torch modules whose sizes are known when they run: attention, views, and sorts."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F

from hirc import compile as compile_model
from hirc.compiler.errors import HircError, UnsupportedError
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
            q.view(batch, heads, length, 1, width).expand(-1, -1, -1, 3, -1),
            *(batch - q, (length - 1) / 2 - q, torch.div(q, batch, rounding_mode="floor")),
            nn.functional.grid_sample(q, v[..., :2], "bilinear", "reflection", True),
            nn.functional.interpolate(q, (length + 3, 13), mode="area"),
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


class _Tables(nn.Module):
    """Tables as long as the longest input, group norms, and experts that take some rows each."""

    seen: Tensor
    places: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.ones(16, 16).tril())
        self.register_buffer("places", torch.randn(16, 8))
        self.norm = nn.GroupNorm(2, 8)
        self.up = nn.ConvTranspose1d(8, 8, 4, 2, 1, groups=8)
        self.gate = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        length = x.shape[1]
        x = x + self.places[:length]
        scores = (x @ x.mT).masked_fill(self.seen[:length, :length] == 0, -torch.inf)
        rows = (scores.softmax(-1) @ x).flatten(0, 1)
        shares = self.gate(rows).softmax(-1)
        mixed = torch.zeros_like(rows)
        for number in range(2):
            which, row = torch.where((shares > 0.3).T[number : number + 1])
            mixed.index_add_(0, row, rows[row].sin() * shares[row, which + number, None])
        return self.up(self.norm(x.mT)), mixed


def test_tables_as_long_as_the_longest_input() -> None:
    torch.manual_seed(0)
    model, shapes = _Tables().eval(), {"x": {0: Dim("batch", max=4), 1: Dim("length", max=16)}}
    model.requires_grad_(requires_grad=False)
    compiled = compile_model(
        model, (torch.randn(2, 5, 8),), dynamic_shapes=shapes, target="cpu", opt_level=0
    )
    for batch, length in ((1, 16), (3, 1), (2, 7)):
        x = torch.randn(batch, length, 8)
        torch.testing.assert_close(compiled(x), model(x))
    with pytest.raises(HircError, match="'length' of main is 17"):
        compiled(torch.randn(1, 17, 8))


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


def _of_padded(x: Tensor) -> Tensor:
    """Sums of what is padded up to rows of 4, of which a loop takes each."""
    length = x.shape[1]
    pad = (4 - length % 4) % 4
    x = F.pad(x, (0, 0, 0, pad)).cumsum(1)
    rows = x.reshape(x.shape[0], -1, 4, x.shape[2])
    total = x.new_zeros(x.shape[0])
    for row in range((length + pad) // 4):
        total = total * 2 + (rows[:, row] @ rows[:, row].mT).sum((1, 2))
    return total


def test_parts_of_a_padded_length_may_be_known() -> None:
    shapes = {"x": {0: Dim("batch", min=2, max=8), 1: Dim.AUTO}}
    compiled = compile_model(
        _of_padded, (torch.randn(3, 6, 5),), dynamic_shapes=shapes, target="cpu", opt_level=0
    )
    for sizes in ((2, 5, 5), (5, 8, 5)):
        x = torch.randn(sizes)
        torch.testing.assert_close(compiled(x), _of_padded(x))
    with pytest.raises(HircError, match="do not satisfy"):
        compiled(torch.randn(3, 9, 5))


def _of_sizes(x: Tensor, rows: int, columns: int) -> list[Tensor]:
    """Of numbers with a fraction that are computed from open sizes."""
    n, half = x.long(), x.half()
    return [
        *(
            x * (1.0 / rows),
            x / math.sqrt(columns),
            half * columns**-0.5,
            n * (rows / 2),
            1 / rows - x,
        ),
        *(x + (columns - 1.5) / rows, x ** (1 / columns), (1.5 / rows) ** x, x > 1 / rows),
        *(x.clamp(-1 / rows, columns / 7), x.clamp(max=1 / rows), n.clamp_min(rows / 3)),
        *(torch.full((2,), 1 / rows), x.new_full((columns,), columns / rows), x[0, 0] * (rows / 3)),
        *(x.masked_fill(x > 0, 1 / rows), torch.where(x > 0, 1 / rows, x), n == rows / 1),
        *(x.quantile(0.3), x.nanquantile(torch.tensor([0.1, 0.6]), 1), -(rows / 3) * x),
        *(torch.add(x, x, alpha=1 / rows), F.leaky_relu(x, 1 / rows)),
    ]


def _of_any_size(x: Tensor, y: Tensor) -> list[Tensor]:
    rows, columns = x.shape
    return [
        torch.linspace(-1, 2, rows),
        torch.linspace(columns - 1, 0.5, columns, dtype=torch.float16),
        (x @ x.mT).fill_diagonal_(-torch.inf).softmax(-1),
        torch.zeros(rows, 3).fill_diagonal_(2, wrap=False),
        torch.cdist(x, y),
        *torch.std_mean(x, 1),
        x.std(0, correction=0),
        F.rms_norm(x, (columns,)),
        rows - x,
        F.max_pool1d(x, 2),
        F.max_pool1d(x[None], 3, 2, padding=1),
        F.max_pool1d(x[None], 2, 2, ceil_mode=True),
        F.avg_pool1d(x[None], 2, 3, padding=1, ceil_mode=True),
        # torch asks what divides (columns + 1) // 2 + 1.
        F.conv1d(x[:, None], torch.ones(4, 1, 3), stride=2, padding=2).mT @ torch.ones(4, 2),
        x.reshape(-1, 1).reshape(-1, columns, 1).mT @ y.mT[None, :, :1].expand(rows, -1, -1),
        # These are contiguous for 2 columns alone.
        x[:, :2].contiguous(),
        torch.arange(rows - 1, -rows, -1.0),
        torch.arange(end=columns + 9, start=2.0, dtype=torch.float64),
        # A table is contiguous, and has its channels last, for 64 columns alone.
        torch.arange(128).view(1, 1, 2, 64)[..., :columns].eq(3) | (x[None, None, :1] > 0),
        *(*torch.where(x > 1, torch.nan, x).cummax(1), *x.cummin(0), (x * 90).logcumsumexp(0)),
        torch.rsub(x, columns, alpha=3),
        *_of_sizes(x, rows, columns),
        F.pad(x[None], (1, 1), mode="reflect"),
        F.interpolate(x[None, None], scale_factor=(2, 3.0), mode="bicubic"),
        F.interpolate(x[None], scale_factor=2, mode="linear", recompute_scale_factor=True),
        x.as_strided((rows, columns - 1, 2), (columns, 1, 1)),
        # torch gives it other strides where it has one channel for each place.
        F.adaptive_avg_pool1d(x[None], 1),
        *_of_whole_numbers(rows, columns),
        # Of size 1 for all sizes in range, and as long as a row.
        x + torch.arange(64.0).view(1, 64)[max(0, 1 - columns) :, max(0, 64 - columns) :],
    ]


def _of_whole_numbers(rows: int, columns: int) -> list[Tensor]:
    sizes: list[Any] = [
        *(torch.sym_max(rows, columns), torch.sym_min(rows + 2, columns + 5)),
        *(rows % 5 + 2, -rows % 7 + 2, rows % -7 + 9, rows**2, abs(rows - 50) + 2),
        *(rows << 2, (rows >> 1) + 2),
    ]
    return [torch.ones(size) for size in sizes]


def test_functions_whose_sizes_torch_would_fix() -> None:
    torch.manual_seed(0)
    columns = Dim("columns", min=2, max=64)
    shapes = {"x": {0: Dim("rows"), 1: columns}, "y": {1: columns}}
    given = (torch.randn(5, 4), torch.randn(3, 4))
    compiled = compile_model(_of_any_size, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    for rows, width in ((1, 2), (2, 7), (40, 3)):
        inputs = (torch.randn(rows, width), torch.randn(3, width))
        theirs = _of_any_size(*inputs)
        for number, (mine, other) in enumerate(zip(compiled(*inputs), theirs, strict=True)):
            torch.testing.assert_close(
                mine, other, equal_nan=True, msg=lambda said, number=number: f"{number}: {said}"
            )


def _of_parts(x: Tensor) -> list[Tensor]:
    rows, columns = x.shape[2:]
    resized = partial(F.interpolate, x)
    return [
        resized(scale_factor=0.5, mode="bilinear"),
        resized(scale_factor=(1.5, 2.0), mode="bilinear", align_corners=True),
        resized(scale_factor=1 / 3, mode="bicubic"),
        resized(scale_factor=0.3, mode="nearest-exact"),
        x[:, :, : math.trunc(rows * 0.6)],
        x[:, :, :, math.ceil(columns / 3) : math.floor(columns * 1.25)],
        x.new_full((torch.sym_int((rows + columns) / 7),), 1 / rows),
        torch.cat(x.chunk(2, 3)[::-1], 3),
    ]


def test_parts_of_open_sizes_are_whole_numbers() -> None:
    # torch cannot tell that all sizes in the range of a named `Dim` pass its guards.
    shapes = {"x": {2: Dim.AUTO, 3: Dim.AUTO}}
    given = (torch.randn(1, 2, 20, 24),)
    compiled = compile_model(_of_parts, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    for sizes in ((20, 24), (8, 30), (41, 12)):
        x = torch.randn(1, 2, *sizes)
        for number, (mine, other) in enumerate(zip(compiled(x), _of_parts(x), strict=True)):
            torch.testing.assert_close(
                mine,
                other,
                rtol=1e-4,
                atol=1e-5,
                msg=lambda said, number=number: f"{number}: {said}",
            )


def test_a_size_that_is_right_for_one_number_is_known() -> None:
    def every_other(x: Tensor) -> Tensor:
        return x[:, ::2] + 1  # torch takes two for all that this is right for.

    shapes = {"x": {0: Dim.AUTO, 1: Dim.AUTO, 2: Dim.AUTO}}
    given = (torch.randn(6, 2, 5),)
    compiled = compile_model(every_other, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    x = torch.randn(3, 2, 7)
    torch.testing.assert_close(compiled(x), every_other(x))
    with pytest.raises(HircError, match="2"):
        compiled(torch.randn(3, 4, 7))


def _as_long_as_windows(x: Tensor, window: int, stride: int) -> Tensor:
    """Pools a picture that is padded so that each stride has a window."""
    rows, columns = (
        max((math.ceil(size / stride) - 1) * stride + window - size, 0) for size in x.shape[2:]
    )
    wide = F.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))
    return F.avg_pool2d(wide, window, stride)


def _of_pictures(x: Tensor) -> list[Tensor]:
    height, width = x.shape[2:]
    small = x[:, :, :2, :3]
    return [
        F.interpolate(F.avg_pool2d(x, 2), (height, width), mode="bilinear", align_corners=True),
        F.interpolate(small, (height, width), mode="bicubic", align_corners=True),
        F.interpolate(x, (7, 5), mode="bilinear", align_corners=True),
        F.interpolate(x, scale_factor=0.5, mode="bilinear"),
        F.interpolate(x, scale_factor=0.7, mode="nearest"),
        F.interpolate(x, (7, 5), mode="bilinear", antialias=True),
        F.interpolate(small, (height, width), mode="bicubic", antialias=True),
        F.adaptive_avg_pool2d(x, (3, 6)),
        F.adaptive_avg_pool2d(x.half(), (None, 2)),
        F.adaptive_avg_pool2d(x, 1),
        *F.adaptive_max_pool2d(x, (3, 6), return_indices=True),
        F.pad(x, (0, (7 - width % 7) % 7, 0, -height % 4)),
        _as_long_as_windows(_as_long_as_windows(x, 7, 2), 5, 3),
        torch.arange(math.ceil(width / 3 + 0.5))
        - torch.arange(-math.floor(-0.3 * height))[:, None],
    ]


def _blends(x: Tensor) -> list[Tensor]:
    rows, columns = x.shape[2:]
    return [
        F.interpolate(x, scale_factor=0.5, mode="bilinear"),
        F.interpolate(x[:, :, :3, :4], (rows, columns), mode="bilinear", align_corners=True),
        F.interpolate(x[:, 0], (7,), mode="linear"),
    ]


def test_halves_are_widened_once_they_are_read() -> None:
    torch.manual_seed(0)
    given, shapes = (torch.randn(1, 2, 20, 24).half(),), {"x": {2: Dim.AUTO, 3: Dim.AUTO}}
    text = import_model(_blends, given, dynamic_shapes=shapes).text
    assert 0 < text.index("tensor.extract") < text.index("f16 to f32")
    compiled = compile_model(_blends, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    for sizes in ((20, 24), (7, 13)):
        x = torch.randn(1, 2, *sizes).half()
        for mine, wide in zip(compiled(x), _blends(x.float()), strict=True):
            torch.testing.assert_close(mine, wide.half(), rtol=1e-3, atol=1e-5)


def test_pictures_of_open_sizes_are_resized_pooled_and_padded() -> None:
    torch.manual_seed(0)
    shapes = {"x": {2: Dim("height", min=6, max=99), 3: Dim("width", min=6, max=99)}}
    given = (torch.randn(1, 2, 12, 12),)
    compiled = compile_model(_of_pictures, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    for height, width in ((12, 12), (7, 6), (13, 30)):
        x = torch.randn(1, 2, height, width)
        theirs = _of_pictures(x)
        for number, (mine, other) in enumerate(zip(compiled(x), theirs, strict=True)):
            torch.testing.assert_close(
                mine,
                other,
                atol=1e-5,
                rtol=1e-3,
                msg=lambda said, number=number: f"{number}: {said}",
            )


def _as_if_of_four(x: Tensor) -> Tensor:
    doubled = x * 2
    return doubled.view(4, 4)


def test_a_size_that_is_fixed_is_named_at_its_line() -> None:
    with pytest.raises(HircError, match=r"rows.* a constant \(4\)\.$") as caught:
        import_model(_as_if_of_four, (torch.ones(4, 4),), dynamic_shapes={"x": {0: Dim("rows")}})
    place = caught.value.position
    assert place is not None
    assert (place.file, place.line) == (__file__, _as_if_of_four.__code__.co_firstlineno + 2)


def _leaking(x: Tensor) -> Tensor:
    return F.leaky_relu(x, x.shape[0] ** -0.5)


def test_a_number_of_a_size_that_no_tensor_stands_for_is_named_at_its_line() -> None:
    with pytest.raises(HircError, match="computed from an open size") as caught:
        import_model(_leaking, (torch.ones(4, 4),), dynamic_shapes={"x": {0: Dim("rows")}})
    place = caught.value.position
    assert place is not None
    assert (place.file, place.line) == (__file__, _leaking.__code__.co_firstlineno + 1)


def _strided_part(x: Tensor) -> Tensor:
    return x[1:].as_strided((x.shape[0], 2), (1, 1), 0)


def _bits(x: Tensor) -> Tensor:
    return torch.zeros((x.shape[0] & 3) + 4)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (_strided_part, "strides into a tensor that is part of another, or has gaps"),
        (_bits, "torch-mlir cannot import the model: 'and_' has no lowering"),
    ],
)
def test_what_is_not_computed_of_open_sizes_is_named_at_its_line(model: Any, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said) as caught:
        import_model(model, (torch.ones(6, 2),), dynamic_shapes=({0: Dim("n", min=2)},))
    assert caught.value.position is not None
    assert caught.value.position.line == model.__code__.co_firstlineno + 1


def _asking(x: Tensor) -> Tensor:
    rows, columns = x.shape
    if rows * columns > 100:
        x = x * 2
    if (rows - columns) % 3 == 0 or rows / columns < 0.75:
        x = x + max(rows // 2, 3)
    return x.repeat(int(rows * 0.1 + columns * 0.5), 1)


def test_what_a_model_asks_of_several_sizes_is_checked() -> None:
    shapes = {"x": {0: Dim("rows", min=2, max=99), 1: Dim("columns", min=4, max=99)}}
    compiled = compile_model(
        _asking, (torch.randn(9, 13),), dynamic_shapes=shapes, target="cpu", opt_level=0
    )
    for sizes in ((9, 13), (8, 13)):
        x = torch.randn(sizes)
        torch.testing.assert_close(compiled(x), _asking(x))
    for sizes, asked in (
        ((4, 14), r"columns\*rows > 100"),
        ((9, 12), r"% 3\) != 0"),
        ((13, 15), r"\(rows / columns\) < 0.75"),
        ((10, 15), r"math.trunc\(.*\) == 7"),
    ):
        with pytest.raises(HircError, match=f"do not satisfy .*{asked}"):
            compiled(torch.randn(sizes))


def _asking_one(x: Tensor) -> Tensor:
    return x * 2 if x.shape[0] % 4 == 0 else x


def test_what_a_model_asks_of_a_size_besides_limits_is_checked() -> None:
    shapes = {"x": {0: Dim.AUTO}}
    compiled = compile_model(
        _asking_one, (torch.ones(8),), dynamic_shapes=shapes, target="cpu", opt_level=0
    )
    assert compiled(torch.ones(12)).tolist() == [2] * 12
    with pytest.raises(HircError, match=r"do not satisfy \(x_0 % 4\) == 0"):
        compiled(torch.ones(9))


def _of_chained_parts(x: Tensor) -> Tensor:
    """As Python rounds each product: ceil(12 * 0.1 * 10) is 13."""
    rows = x.shape[0]
    sizes = math.ceil(rows * 0.1 * 10), math.floor(rows * 0.7 / 0.1), math.floor(rows / 1.1 * 1.1)
    return x[0, 0] * 0 + sizes[0] * 10000 + sizes[1] * 100 + sizes[2]


def test_parts_of_parts_are_rounded_as_in_python() -> None:
    compiled = compile_model(
        _of_chained_parts,
        (torch.ones(9, 2),),
        dynamic_shapes={"x": {0: Dim("rows", min=2, max=99)}},
        target="cpu",
        opt_level=0,
    )
    for rows in range(2, 99):
        x = torch.ones(rows, 2)
        assert compiled(x) == _of_chained_parts(x), rows


def _of_any_sizes(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    rows, columns = x.shape
    return [
        *(x.repeat(2, 3), x.repeat(2, 1, 1), x.repeat(1, rows + 1), y.repeat(columns, 2)),
        *(x.softmax(1), x.softmax(0), x.sum(0), x.mean(1), x.cumsum(1), x @ x.T, x.T.reshape(-1)),
        *(torch.cat([x, y[:, None]], 1), torch.stack([x, x], 1), x.flip(0), x[::2], x.tril()),
    ]


def test_open_sizes_may_be_zero() -> None:
    shapes = ({0: Dim("rows", min=0), 1: Dim("columns", min=0)}, {0: Dim("rows", min=0)})
    given = (torch.randn(5, 7), torch.randn(5))
    model = compile_model(_of_any_sizes, given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    for rows, columns in ((0, 0), (0, 3), (3, 0), (1, 1), (4, 3)):
        given = (torch.randn(rows, columns), torch.randn(rows))
        for ours, theirs in zip(model(*given), _of_any_sizes(*given), strict=True):
            torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_squeeze_leaves_open_sizes() -> None:
    """The number of dims is the same for one row, too."""

    def squeezed(x: Tensor) -> Tensor:
        return x.squeeze() * 2

    batch = {0: Dim("batch", min=1, max=8)}
    example = (torch.rand(3, 1, 2),)
    net = compile_model(squeezed, example, dynamic_shapes=(batch,), target="cpu")
    for rows in (4, 1):
        x = torch.rand(rows, 1, 2)
        assert torch.equal(net(x), x[:, 0] * 2)


@pytest.mark.parametrize("is_open", [False, True])
def test_one_window_that_leaves_a_row_out(is_open: bool) -> None:
    """Poolings of three rows by two: the loop over windows has one iteration."""

    def pooled(x: Tensor) -> tuple[Tensor, Tensor]:
        return F.max_pool2d(x.relu(), 2).sigmoid(), F.avg_pool2d(x, 2) * 2

    shapes = ({0: Dim("batch", min=1, max=8)},) if is_open else None
    x = torch.rand(3, 4, 3, 5)
    net = compile_model(pooled, (x,), dynamic_shapes=shapes, target="cpu")
    torch.testing.assert_close(net(x), pooled(x))

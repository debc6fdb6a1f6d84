"""torch modules with loops and branches: recurrent layers, torch.cond, scans and maps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops import associative_scan, map, scan, while_loop
from torch.export import Dim

import hirc
from hirc.compiler.errors import UnsupportedError
from hirc.frontends.torch.import_model import import_model
from hirc.tools.hirc import main as run_hirc


class _Recurrent(nn.Module):
    """Layers of every kind, one after the other, and what they end with."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, proj_size=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(4, 3)
        self.rnn = nn.RNN(3, 2, num_layers=2, bias=False, nonlinearity="relu")

    def forward(self, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
        y, (h_lstm, c) = self.lstm(x)
        y, h_gru = self.gru(y.transpose(0, 1), h)
        y, h_rnn = self.rnn(y)
        return y, h_lstm, c, h_gru, h_rnn


def _same(found: object, wanted: object) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_recurrent_layers_of_any_length() -> None:
    torch.manual_seed(0)
    model = _Recurrent().eval().requires_grad_(requires_grad=False)
    batch, length = Dim("batch"), Dim("length")
    inputs = torch.randn(2, 5, 3), torch.randn(1, 2, 3)
    net = hirc.compile(
        model, inputs, dynamic_shapes=({0: batch, 1: length}, {1: batch}), target="cpu", opt_level=0
    )
    for sizes in ((2, 5), (3, 1), (1, 9)):
        x, h = torch.randn(*sizes, 3), torch.randn(1, sizes[0], 3)
        _same(net(x, h), model(x, h))


def test_the_length_of_a_recurrent_layer_is_not_unrolled() -> None:
    model = nn.LSTM(3, 4, 2)
    sizes = [len(import_model(model, (torch.randn(length, 1, 3),)).text) for length in (3, 2000)]
    assert sizes[1] < sizes[0] + 1000


def _product(row: Tensor, with_: Tensor) -> Tensor:
    return row.cos() * with_


def _more(x: Tensor) -> tuple[Tensor, Tensor]:
    return x + 1, x.long()


def _twice(x: Tensor) -> tuple[Tensor, Tensor]:
    return x * 2, x.long() + 1


class _Controlled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        def step(carried: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            # A branch within a loop.
            more = torch.cond(row.sum() > 0, self.layer, torch.sin, (row,))
            return carried * more, carried + row

        end, rows = scan(step, y, x, reverse=True)
        sums = associative_scan(torch.add, x, dim=0, combine_mode="generic")
        products = map(_product, x, y)  # pyright: ignore[reportArgumentType]
        both = torch.cond(x.amin() > -1, _more, _twice, (x,))
        return end, rows, sums, products, *both


def test_loops_and_branches() -> None:
    torch.manual_seed(0)
    model = _Controlled().requires_grad_(requires_grad=False)
    inputs = torch.randn(5, 3), torch.randn(3)
    net = hirc.compile(model, inputs, target="cpu", opt_level=0)
    for x in (inputs[0], inputs[0].abs()):
        _same(net(x, inputs[1]), model(x, inputs[1]))


def test_packed_sequences_are_refused() -> None:
    model = nn.GRU(3, 4)

    def packed(x: Tensor) -> Tensor:
        lengths = torch.tensor([3, 2])
        return model(nn.utils.rnn.pack_padded_sequence(x, lengths))[1]

    with pytest.raises(UnsupportedError, match="packed"):
        import_model(packed, (torch.randn(3, 2, 3),))


def _searches(x: Tensor, most: Tensor) -> tuple[Tensor, ...]:
    """Loops of which the first goes on in the second, and another in an iteration."""

    def is_small(x: Tensor, _: Tensor) -> Tensor:
        return x.sum() < most

    def double(x: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2, count + 1

    x, count = while_loop(is_small, double, (x, torch.zeros((), dtype=torch.int64)))

    def has_room(place: Tensor, *_: Tensor) -> Tensor:
        return place < 3

    def fill(place: Tensor, room: Tensor, other: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        def is_before(turns: Tensor, _: Tensor) -> Tensor:
            return turns < place

        def turn(turns: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
            return turns + 1, other.roll(1, 0) + x.mean()

        _, other = while_loop(is_before, turn, (torch.zeros_like(place), other))
        row = torch.cond(other[0] > 3, torch.sin, torch.cos, (other,))
        return place + 1, room.index_copy(0, place.reshape(1), row[None]), other

    room = torch.zeros(3, x.shape[0])
    place, room, other = while_loop(has_room, fill, (count * 0, room, x[:, 0].clone()))
    return x, count, place, room, other


def test_loops_that_end_when_a_tensor_says_so() -> None:
    torch.manual_seed(0)
    x = torch.rand(4, 3)
    shapes = {"x": {0: Dim("rows")}, "most": None}
    net = hirc.compile(
        _searches, (x, torch.tensor(1.0)), dynamic_shapes=shapes, target="cpu", opt_level=0
    )
    for rows, most in ((4, 0.0), (4, 9.0), (7, 40.0)):
        given = torch.rand(rows, 3), torch.tensor(most)
        _same(net(*given), _searches(*given))


def test_what_a_loop_fills_place_after_place_is_not_copied(tmp_path: Path) -> None:
    def goes_on(place: Tensor, row: Tensor, room: Tensor) -> Tensor:
        return (place < 64) & (row.sum() < 1000)

    def step(place: Tensor, row: Tensor, room: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        room = room.index_copy(0, place.reshape(1), row[None])
        return place + 1, ((room @ row).softmax(0) @ room).clone(), room

    def model(row: Tensor, room: Tensor) -> tuple[Tensor, ...]:
        begin = torch.zeros((), dtype=torch.int64), row, room.clone()
        return while_loop(goes_on, step, begin)

    inputs = torch.rand(8), torch.zeros(64, 8)
    source, made = tmp_path / "loop.mlir", tmp_path / "made.mlir"
    source.write_text(import_model(model, inputs).text)
    arguments = [str(source), "--stop-after=functions", "--offload-arch=cpu", "-o", str(made)]
    assert run_hirc(arguments) == 0
    program = made.read_text()
    body = program[program.index('"hir.for"') :]
    assert '"hir.stop_loop"' in body
    copied = [line for line in body.splitlines() if '"hir.set"' in line and "64x8" in line]
    assert copied == []
    _same(hirc.compile(model, inputs, target="cpu", opt_level=0)(*inputs), model(*inputs))


def _transposed(x: Tensor) -> Tensor:
    return x.T + 1


def _transposed_twice(x: Tensor) -> Tensor:
    return x.mT * 2


def _row(x: Tensor) -> Tensor:
    return x[0] + 1


def _both(x: Tensor) -> tuple[Tensor, Tensor]:
    return x + 1, x + 2


def test_branches_may_have_the_same_views_of_what_they_are_given() -> None:
    def model(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, _transposed, _transposed_twice, (x,))

    x = torch.rand(3, 3)
    net = hirc.compile(model, (x,), target="cpu", opt_level=0, cache=False)
    for each in (x, -x):
        _same(net(each), model(each))


def _itself(x: Tensor) -> Tensor:
    return x


@pytest.mark.parametrize(
    ("branch", "said", "hint"),
    [
        (_itself, "shares memory", r"x\.clone\(\)"),
        (Tensor.int, "same dtype", "same dims, types and strides"),
        (_row, "same dim", "same dims, types and strides"),
        (_transposed, "strides", r"x\.contiguous\(\)"),
        (_both, "Unmatched output", "same containers"),
    ],
)
def test_branches_that_torch_refuses(
    branch: Callable[[Tensor], object], said: str, hint: str
) -> None:
    def model(x: Tensor) -> object:
        return torch.cond(x.sum() > 0, branch, torch.sin, (x,))

    with pytest.raises(UnsupportedError, match=said) as caught:
        import_model(model, (torch.rand(3, 3),))
    assert re.search(hint, caught.value.hint or "")

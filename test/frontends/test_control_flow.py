"""torch modules with loops and branches: recurrent layers, torch.cond, scans and maps."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops import associative_scan, map, scan, while_loop
from torch.export import Dim

import hirc
from hirc.compiler.errors import UnsupportedError
from hirc.frontends.torch.import_model import import_model


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


def test_loops_of_unknown_length_are_refused() -> None:
    def goes_on(x: Tensor) -> Tensor:
        return x.sum() < 9

    def doubled(x: Tensor) -> tuple[Tensor]:
        return (x * 2,)

    def model(x: Tensor) -> Tensor:
        return while_loop(goes_on, doubled, (x,))[0]

    with pytest.raises(UnsupportedError, match="while_loop") as caught:
        import_model(model, (torch.rand(3),))
    assert caught.value.position is not None
    assert caught.value.position.file == __file__

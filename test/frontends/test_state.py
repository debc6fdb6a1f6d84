"""What models change: buffers, which an instance keeps, and inputs, which the caller has."""

from __future__ import annotations

import copy
import gc

import pytest
import torch
from torch import Tensor, nn

import hirc
from hirc.compiler.errors import HircError, InputError, UnsupportedError
from hirc.frontends.torch.import_model import import_model


class Cache(nn.Module):
    """A cache of keys, written at places that tensors hold, in three ways."""

    copied: Tensor
    put: Tensor
    sliced: Tensor
    steps: Tensor

    def __init__(self) -> None:
        super().__init__()
        for name in ("copied", "put", "sliced"):
            self.register_buffer(name, torch.randn(2, 3, 16, 4))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long), persistent=False)

    def forward(self, x: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        self.copied.index_copy_(2, places, x)
        self.put[:, :, places] = x
        start = places[0].item()
        torch._check(start >= 0)  # pyright: ignore[reportPrivateUsage]
        torch._check(start + x.shape[2] <= 16)  # pyright: ignore[reportPrivateUsage]
        self.sliced[:, :, start : start + x.shape[2]] = x
        self.steps += 1
        return (self.copied * self.put + self.sliced).sum(-1), self.sliced[:, 1]


@pytest.fixture(scope="module")
def cache() -> tuple[Cache, hirc.Artifact]:
    torch.manual_seed(0)
    model = Cache()
    net = hirc.compile(model, (torch.randn(2, 3, 2, 4), torch.tensor([5, 6])), target="cpu")
    return model, net


def _step(net: hirc.Artifact, model: nn.Module, place: int) -> None:
    x, places = torch.randn(2, 3, 2, 4), torch.tensor([place, place + 1])
    for ours, theirs in zip(net(x, places), model(x, places), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_instances_keep_what_each_wrote(cache: tuple[Cache, hirc.Artifact]) -> None:
    model, first = cache
    second = first.new_instance()
    ours, theirs = copy.deepcopy(model), copy.deepcopy(model)
    for place in (5, 9, 14):
        _step(first, ours, place)
    _step(second, theirs, 0)
    for net, eager in ((first, ours), (second, theirs)):
        assert {*net.state} == {name for name, _ in eager.named_buffers()}
        for name, buffer in eager.named_buffers():
            assert torch.equal(net.state[name], buffer), name
    first.reset()
    for name, buffer in model.named_buffers():
        assert torch.equal(first.state[name], buffer), name
    assert second.state["steps"] == 1


def test_state_is_the_memory_itself(cache: tuple[Cache, hirc.Artifact]) -> None:
    model, net = cache[0], cache[1].new_instance()
    net.state["copied"].zero_()
    eager = copy.deepcopy(model)
    eager.copied.zero_()
    _step(net, eager, 3)
    put = net.state["put"]
    del net
    gc.collect()
    assert torch.equal(put, eager.put)
    with pytest.raises(KeyError):
        cache[1].state["none"]


def test_what_changes_is_state(cache: tuple[Cache, hirc.Artifact]) -> None:
    text = import_model(cache[0], (torch.randn(2, 3, 2, 4), torch.tensor([5, 6]))).text
    assert text.count("hirc.updates") == 4
    assert 'hirc.state = "steps", hirc.zero_init' in text
    assert "hirc.weight" not in text


def test_state_passed_as_inputs() -> None:
    class Count(nn.Module):
        n: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", torch.ones(3))

        def forward(self, x: Tensor, state: float = 2.0) -> Tensor:
            self.n.mul_(state)
            return x + self.n

    net = hirc.compile(Count(), (torch.ones(3),), target="cpu", state="inputs")
    kept = {"n": torch.full((3,), 4.0)}
    assert not net.state
    assert net(torch.ones(3), state_=kept).tolist() == [9.0] * 3
    assert kept["n"].tolist() == [8.0] * 3


class Training(nn.Module):
    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("seen", torch.zeros(4, 3))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y.mul_(2)
        before = self.seen.clone()
        self.seen.copy_(x)
        return self.norm(x) + y, y, before


def test_statistics_and_inputs_that_change() -> None:
    model = Training()
    eager = copy.deepcopy(model)
    net = hirc.compile(model, (torch.randn(4, 3), torch.randn(4, 3)), target="cpu")
    for _ in range(3):
        x, y = torch.randn(4, 3), torch.randn(4, 3)
        theirs = y.clone()
        given = net(x, y)
        for one, other in zip(given, eager(x, theirs), strict=True):
            torch.testing.assert_close(one, other)
        assert given[1] is y
        assert torch.equal(y, theirs)
    for name, buffer in eager.named_buffers():
        torch.testing.assert_close(net.state[name], buffer)
    both = torch.randn(4, 3)
    with pytest.raises(InputError, match="'y' of main: its memory overlaps that of input 'x'"):
        net(both, both)


def test_part_of_other_memory_is_refused() -> None:
    class Halves(nn.Module):
        whole: Tensor
        first: Tensor

        def __init__(self) -> None:
            super().__init__()
            whole = torch.zeros(8)
            self.register_buffer("whole", whole)
            self.register_buffer("first", whole[:4])

        def forward(self, x: Tensor) -> Tensor:
            self.first.add_(x)
            return self.whole * 1

    with pytest.raises(HircError) as caught:
        import_model(Halves(), (torch.ones(4),))
    assert isinstance(caught.value, UnsupportedError)


class _Bytes(nn.Module):
    """Elements without a sign that are counted up, from a value and from nothing."""

    begun: Tensor
    none: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("begun", torch.tensor([250, 3], dtype=torch.uint8))
        self.register_buffer("none", torch.zeros(2, dtype=torch.uint8))

    def forward(self, x: Tensor) -> Tensor:
        self.begun += x
        self.none -= 1
        return self.begun.float() + self.none


def test_state_without_a_sign_is_shown_so() -> None:
    model, x = _Bytes(), torch.tensor([10, 1], dtype=torch.uint8)
    net = hirc.compile(copy.deepcopy(model), (x,), target="cpu", opt_level=0)
    for _ in range(2):
        torch.testing.assert_close(net(x), model(x))
        torch.testing.assert_close(net.state["begun"], model.begun)
        torch.testing.assert_close(net.state["none"], model.none)


@pytest.mark.parametrize("order", [1.0, 2.0, torch.inf])
def test_rows_of_an_embedding_are_shortened(order: float) -> None:
    """Those that a call reads are, and stay so; the others keep their length."""
    torch.manual_seed(0)
    model = nn.Embedding(7, 4, max_norm=1.0, norm_type=order)
    with torch.no_grad():
        model.weight[1] *= 0.01
    net = hirc.compile(copy.deepcopy(model), (torch.tensor([[0, 1], [2, 2]]),), target="cpu")
    for places in ([[0, 1], [2, 2]], [[3, 2], [1, 5]]):
        given = torch.tensor(places)
        torch.testing.assert_close(net(given), model(given).detach())
        torch.testing.assert_close(net.state["weight"], model.weight.detach())

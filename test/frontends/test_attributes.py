"""Models that keep tensors in attributes, which are no buffers, or assign to buffers."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any, NoReturn

import pytest
import torch
from torch import Tensor, nn

import hirc
from hirc.compiler.errors import UnsupportedError
from hirc.frontends.torch.import_model import import_model


class Recurrent(nn.Module):
    """Assigns a plain tensor in each call, and writes to it where it is given a first one."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.randn(2, 4)
        self.scale = torch.full((4,), 0.5)
        self.seen: Tensor | None = None
        self.layer = nn.Linear(7, 4)

    def forward(self, x: Tensor, first: Tensor | None = None) -> Tensor:
        if first is not None:
            self.hidden.copy_(first)
        self.hidden = self.layer(torch.cat((x, self.hidden), 1)).tanh()
        self.seen = self.hidden + 1
        return self.hidden * self.scale


class Whole(nn.Module):
    """Parts of which assign to their tensors; two of its own change places."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Recurrent()
        self.register_buffer("one", torch.randn(2, 4))
        self.other = torch.randn(2, 4)

    def forward(self, x: Tensor) -> Tensor:
        self.one, self.other = self.other, self.one
        self.other = self.other + 1
        return self.part(x) + self.one


class _Cache:
    """An object that a model writes to and that is no module."""

    def __init__(self) -> None:
        self.rows = [torch.zeros(2, 3), torch.zeros(2, 3)]
        self.count = torch.zeros((), dtype=torch.int64)


class Holder(nn.Module):
    """Holds buffers and plain tensors that another object holds too; two get the same value."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = _Cache()
        self.register_buffer("first", self.cache.rows[0], persistent=False)
        self.second = self.cache.rows[1]
        self.register_buffer("count", self.cache.count)

    def forward(self, x: Tensor) -> Tensor:
        self.cache.count.add_(1)
        for rows in self.cache.rows:
            rows.copy_(x * self.cache.count)
        return torch.stack(self.cache.rows).sum(0) + self.get_buffer("count")


@pytest.mark.parametrize("kind", [Recurrent, Whole, Holder])
def test_what_is_assigned_is_kept(kind: type[nn.Module]) -> None:
    torch.manual_seed(0)
    model = kind()
    kept = {name for name in vars(model) if isinstance(getattr(model, name), Tensor)}
    net = hirc.compile(model, (torch.randn(2, 3),), target="cpu", opt_level=0)
    assert {name for name in vars(model) if isinstance(getattr(model, name), Tensor)} == kept
    eager = copy.deepcopy(model)
    for _ in range(3):
        x = torch.randn(2, 3)
        torch.testing.assert_close(net(x), eager(x))
    assert "scale" not in net.state
    torch.testing.assert_close(
        net.state[min(kept - {"scale"})], getattr(eager, min(kept - {"scale"}))
    )
    net.reset()
    x = torch.randn(2, 3)
    torch.testing.assert_close(net(x), copy.deepcopy(model)(x))


def test_a_first_value_is_written() -> None:
    model = Recurrent()
    first = torch.randn(2, 4)
    net = hirc.compile(model, (torch.randn(2, 3), first), target="cpu", opt_level=0)
    for _ in range(2):
        x = torch.randn(2, 3)
        torch.testing.assert_close(net(x, first), model(x, first))


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept = [torch.zeros(3)]
        self.calls = 0
        self.wide = torch.zeros(1)
        self.maybe: Tensor | None = None


class ReadsNumber(Counts):
    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls


class AssignsInList(Counts):
    def forward(self, x: Tensor) -> Tensor:
        self.kept[0] = self.kept[0] + x
        return self.kept[0] * 2


class WritesInList(Counts):
    def forward(self, x: Tensor) -> Tensor:
        return self.kept[0].add_(x) * 2


class MakesOnce(Counts):
    def forward(self, x: Tensor) -> Tensor:
        if self.maybe is None:
            self.maybe = torch.zeros_like(x)
        self.maybe = self.maybe + x
        return self.maybe * 2


class Grows(Counts):
    def forward(self, x: Tensor) -> Tensor:
        self.wide = torch.cat([self.wide, x])
        return self.wide.sum()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (ReadsNumber, "an earlier call assigned to 'calls'"),
        (AssignsInList, "an earlier call assigned to 'kept'"),
        (WritesInList, "neither a buffer nor an attribute"),
        (MakesOnce, "an earlier call assigned to 'maybe'"),
        (Grows, "assigns to 'wide', a tensor of 1xfloat32, what is a tensor of 4xfloat32"),
    ],
)
def test_what_cannot_be_kept_is_refused(kind: type[nn.Module], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said) as caught:
        import_model(kind(), (torch.ones(3),))
    assert "buffer" in (caught.value.hint or "") or "sizes" in (caught.value.hint or "")


def test_numbers_that_are_only_written_are_no_matter() -> None:
    class Tells(Counts):
        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            self.kept[0] = x + 1
            return self.kept[0] * 2

    text = import_model(Tells(), (torch.ones(3),)).text
    assert "hirc.state" not in text


class _Counter:
    """An object that a model holds in a list."""

    def __init__(self) -> None:
        self.calls = 0
        self.rows = [torch.zeros(3)]


class CountsOutside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.counters = [_Counter()]

    def forward(self, x: Tensor) -> Tensor:
        self.counters[0].calls += 1
        return x * self.counters[0].calls


class SumsOutside(CountsOutside):
    def forward(self, x: Tensor) -> Tensor:
        (counter,) = self.counters
        counter.rows[0] = counter.rows[0] + x
        return counter.rows[0]


class TellsOutside(CountsOutside):
    def forward(self, x: Tensor) -> Tensor:
        self.counters[0].calls += 1
        return x * 2


@pytest.mark.parametrize(
    ("kind", "name"), [(CountsOutside, "calls"), (SumsOutside, "rows"), (TellsOutside, None)]
)
def test_what_objects_that_a_model_holds_keep(kind: type[CountsOutside], name: str | None) -> None:
    """They are as before after it was compiled, or refused."""
    module = kind()
    if name is None:
        assert "linalg" in import_model(module, (torch.ones(3),)).text
    else:
        with pytest.raises(UnsupportedError, match=f"earlier call assigned to 'counters.0.{name}'"):
            import_model(module, (torch.ones(3),))
    (counter,) = module.counters
    assert counter.calls == 0
    assert torch.equal(counter.rows[0], torch.zeros(3))


class _Frozen(OrderedDict[Any, Any]):
    """A dict that refuses to be copied or changed, as configurations are."""

    def _refuse(self, *given: Any, **named: Any) -> NoReturn:
        raise TypeError

    copy = clear = pop = _refuse

    def __setitem__(self, key: Any, value: Any) -> None:
        if self:
            raise TypeError
        super().__setitem__(key, value)


def test_containers_that_no_call_changes_are_left_alone() -> None:
    class Holds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.settings = _Frozen(scale=3)
            self.seen: dict[str, Tensor] = {}

        def forward(self, x: Tensor) -> Tensor:
            self.seen["x"] = x
            return x * self.settings["scale"]

    module = Holds()
    assert "3.0" in import_model(module, (torch.ones(3),)).text
    assert (dict(module.settings), module.seen) == ({"scale": 3}, {})


def test_modules_that_a_call_converts() -> None:
    """To what they are; to another type is refused."""

    class Converts(nn.Module):
        def __init__(self, kind: torch.dtype) -> None:
            super().__init__()
            self.kind, self.layer = kind, nn.Linear(3, 2)

        def forward(self, x: Tensor) -> Tensor:
            self.layer = self.layer.to(self.kind).to(x.device)
            return self.layer(x)

    assert "linalg" in import_model(Converts(torch.float32), (torch.ones(3),)).text
    said = "converts parameters of Linear from torch.float32 on cpu to torch.bfloat16 on cpu"
    with pytest.raises(UnsupportedError, match=said) as caught:
        import_model(Converts(torch.bfloat16), (torch.ones(3),))
    assert caught.value.position is not None


class _Table:
    """An object that is no module, and keeps a table."""

    def __init__(self) -> None:
        self.table: Tensor | None = None


class Keeps(nn.Module):
    """Makes tables in the first call: of weights, of constants, and a longer one."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.arange(4.0))
        self.places = torch.tensor([3, 0, 1])
        self.kept: dict[str, Tensor] = {}
        self.angles = _Table()
        self.steps = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        if "biases" not in self.kept:
            self.kept["biases"] = self.table[self.places]
        if self.angles.table is None:
            self.angles.table = torch.arange(3.0).cos()
        if len(self.steps) < len(x):
            self.steps = torch.arange(len(x)) * 0.5
        return x + self.kept["biases"] * self.angles.table - self.steps


def test_tables_that_the_first_call_keeps() -> None:
    x = torch.rand(3)
    with torch.no_grad():
        wanted = Keeps()(x)
    for is_called in (False, True):
        module = Keeps().eval()
        if is_called:
            with torch.no_grad():
                module(x)
        net = hirc.compile(nn.Sequential(module), (x,), target="cpu", opt_level=0)
        assert not net.state
        for _ in range(2):
            torch.testing.assert_close(net(x), wanted)
        assert bool(module.kept) == (module.angles.table is not None) == is_called


class KeepsDrawn(Keeps):
    def forward(self, x: Tensor) -> Tensor:
        if "noise" not in self.kept:
            self.kept["noise"] = torch.rand(3)
        return x + self.kept["noise"]


class KeepsInput(Keeps):
    def forward(self, x: Tensor) -> Tensor:
        if "first" not in self.kept:
            self.kept["first"] = x * self.table[0]
        return x + self.kept["first"]


class KeepsCount(Keeps):
    def forward(self, x: Tensor) -> Tensor:
        self.steps += 1
        if "steps" not in self.kept:
            self.kept["steps"] = self.steps * 2
        return x + self.kept["steps"]


@pytest.mark.parametrize("kind", [KeepsDrawn, KeepsInput, KeepsCount])
def test_tables_that_another_call_would_make_otherwise(kind: type[Keeps]) -> None:
    with pytest.raises(UnsupportedError, match=r"earlier call assigned to 'kept'") as caught:
        import_model(kind(), (torch.ones(3),))
    assert (caught.value.hint or "").startswith("call the model once before it is compiled")

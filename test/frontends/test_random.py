"""Random numbers: torch's CUDA generator, computed here by a walk over its threads in numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch._higher_order_ops import map, scan, while_loop
from torch.export import Dim
from torch.nn import functional as F

import hirc
from hirc.compiler.errors import HircError, InputError, UnsupportedError
from hirc.frontends.torch.import_model import import_model

_Array = NDArray[Any]
_SEED = (5 << 32) + 77
_LOW = np.uint64(0xFFFFFFFF)


def _philox(counter: list[_Array], seed: int) -> list[_Array]:
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    x = [each.astype(np.uint64) for each in counter]
    for _ in range(10):
        first, second = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        shift = np.uint64(32)
        x = [
            second >> shift ^ x[1] ^ keys[0],
            second & _LOW,
            first >> shift ^ x[3] ^ keys[1],
            first & _LOW,
        ]
        keys = [keys[0] + np.uint64(0x9E3779B9) & _LOW, keys[1] + np.uint64(0xBB67AE85) & _LOW]
    return x


class Generator:
    """A generator that draws as torch's kernels do, thread by thread."""

    def __init__(self, seed: int, offset: int = 0) -> None:
        self.seed, self.offset = seed, offset

    def _turns(self, count: int, lanes: int) -> Iterator[tuple[int, list[_Array]]]:
        """The first place, and the four numbers of every thread, for each turn of a kernel."""
        blocks = min(132 * 8, -(-count // 256))
        threads = np.arange(blocks * 256)
        none = np.zeros_like(threads)
        for first in range(0, count, len(threads) * lanes):
            turn = none + self.offset // 4
            yield first, _philox([turn, none, threads, none], self.seed)
            self.offset += 4

    def draw(self, count: int, lanes: int, make: Callable[[list[_Array]], list[_Array]]) -> _Array:
        parts = [part for _, four in self._turns(count, lanes) for part in make(four)]
        return np.concatenate(parts)[:count] if parts else np.zeros(0)

    def bits32(self, count: int) -> _Array:
        return self.draw(count, 4, lambda four: four)

    def bits64(self, count: int) -> _Array:
        def make(x: list[_Array]) -> list[_Array]:
            return [x[0] << np.uint64(32) | x[1], x[2] << np.uint64(32) | x[3]]

        return self.draw(count, 2, make)

    def uniform(self, count: int) -> _Array:
        unit = np.float32(2.0**-32)
        return self.bits32(count).astype(np.float32) * unit + unit / np.float32(2)

    def normal(self, count: int) -> _Array:
        def make(x: list[_Array]) -> list[_Array]:
            u = [(each.astype(np.float64) + 0.5) * 2.0**-32 for each in x]
            made: list[_Array] = []
            for place in (0, 2):
                length, angle = np.sqrt(-2 * np.log(u[place])), 2 * np.pi * u[place + 1]
                made += [length * np.sin(angle), length * np.cos(angle)]
            return made

        return self.draw(count, 4, make)

    def _wide(self, x: list[_Array]) -> list[_Array]:
        shift = np.uint64(21)
        return [((x[i] ^ x[i + 1] << shift).astype(np.float64) + 0.5) * 2.0**-53 for i in (0, 2)]

    def uniform64(self, count: int) -> _Array:
        return self.draw(count, 2, self._wide)

    def normal64(self, count: int) -> _Array:
        def make(x: list[_Array]) -> list[_Array]:
            u, v = self._wide(x)
            length = np.sqrt(-2 * np.log(u))
            return [length * np.sin(2 * np.pi * v), length * np.cos(2 * np.pi * v)]

        return self.draw(count, 2, make)


def test_the_walk_is_philox() -> None:
    """The vectors that the algorithm's authors publish."""
    none = np.zeros(1, np.uint64)
    assert [f"{int(x[0]):x}" for x in _philox([none] * 4, 0)] == [
        "6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"
    ]  # fmt: skip
    assert [f"{int(x[0]):x}" for x in _philox([none + _LOW] * 4, 2**64 - 1)] == [
        "408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"
    ]  # fmt: skip


def _draws(x: Tensor, more: Tensor) -> dict[str, Tensor]:
    return {
        "rand": torch.rand(3, 7),
        "long": torch.rand(x.shape[0], 300),
        "half": torch.rand_like(more.half()),
        "wide": torch.rand(6, dtype=torch.float64),
        "randn": torch.randn(x.shape[0], 3),
        "randn64": torch.randn(5, dtype=torch.float64),
        "none": torch.rand(0, 3),
        "integers": torch.randint(-3, 9, (x.shape[0],)),
        "large": torch.randint(0, 3 << 40, (6,)),
        "uniform": torch.empty(9).uniform_(-2, 3),
        "normal": more.clone().normal_(2, 0.5),
        "dropout": F.dropout(x, 0.25),
        "bernoulli": torch.bernoulli(x * 0.3),
        "exponential": torch.empty(8).exponential_(2.0),
        "scalar": torch.rand(()),
        "any": torch.empty(4, dtype=torch.long).random_(),
        "bits": torch.empty(4, dtype=torch.int32).random_(),
        "far": torch.rand(3, 300000)[:, -9:],
        "far normal": torch.randn(600001)[::50000],
        "far integers": torch.randint(7, (300001,))[::50000],
        "far normal64": torch.randn(600001, dtype=torch.float64)[::50000],
        "far bits": torch.randint(2**40, (600001,))[::50000],
        "chosen": torch.multinomial(more.abs() + 0.1, 1),
    }


def _expected(given: Generator, x: Tensor, more: Tensor) -> dict[str, _Array]:
    rows, width = x.shape

    def into(values: _Array, least: float, most: float) -> _Array:
        values = values * np.float32(most - least) + np.float32(least)
        return np.where(values == most, least, values)

    found: dict[str, _Array] = {
        "rand": into(given.uniform(21), 0, 1).reshape(3, 7),
        "long": into(given.uniform(rows * 300), 0, 1).reshape(rows, 300),
        "half": given.uniform(more.numel()).astype(np.float16).reshape(more.shape),
        "wide": given.uniform64(6),
        "randn": given.normal(rows * 3).reshape(rows, 3),
        "randn64": given.normal64(5),
        "none": np.zeros((0, 3)),
        "integers": given.bits32(rows).astype(np.int64) % 12 - 3,
        "large": (given.bits64(6) % np.uint64(3 << 40)).astype(np.int64),
        "uniform": into(given.uniform(9), -2, 3),
        "normal": (given.normal(more.numel()) * 0.5 + 2).reshape(more.shape),
    }
    kept = given.uniform(rows * width).reshape(rows, width) < np.float32(0.75)
    found["dropout"] = x.numpy() * kept / 0.75
    found["bernoulli"] = given.uniform(rows * width).reshape(rows, width) <= x.numpy() * np.float32(
        0.3
    )
    found["exponential"] = -np.log(given.uniform(8)) / 2
    found["scalar"] = given.uniform(1)[0]
    found["any"] = (given.bits64(4) & np.uint64(2**63 - 1)).astype(np.int64)
    found["bits"] = given.bits32(4) & np.uint64(2**31 - 1)
    found["far"] = given.uniform(900000).reshape(3, 300000)[:, -9:]
    found["far normal"] = given.normal(600001)[::50000]
    found["far integers"] = given.bits32(300001)[::50000] % 7
    found["far normal64"] = given.normal64(600001)[::50000]
    found["far bits"] = given.bits64(600001)[::50000] % 2**40
    times = -np.log(given.uniform(more.numel())).reshape(more.shape)
    found["chosen"] = ((more.abs().numpy() + np.float32(0.1)) / times).argmax(-1, keepdims=True)
    return found


def _compare(found: dict[str, Tensor], expected: dict[str, _Array]) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        theirs = found[name].double().numpy()
        np.testing.assert_allclose(theirs, values, rtol=2e-6, atol=4e-6, err_msg=name)


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
def test_numbers_are_torchs(is_open: bool) -> None:
    torch.manual_seed(1)
    x, more = torch.rand(4, 6), torch.randn(3, 5)
    shapes: Any = {"x": {0: Dim("rows")}, "more": None} if is_open else None
    net = hirc.compile(_draws, (x, more), dynamic_shapes=shapes, target="cpu", opt_level=0)
    net.manual_seed(_SEED, 8)
    given = Generator(_SEED, 8)
    for rows in (4, 4, 1, 2000) if is_open else (4, 4):
        x = torch.rand(rows, 6)
        _compare(net(x, more), _expected(given, x, more))
        assert net.state["hirc.generator"].tolist() == [_SEED, given.offset]
    other = net.new_instance()
    _compare(other(x, more), _expected(Generator(0), x, more))
    with pytest.raises(InputError, match="64 bits"):
        net.manual_seed(1 << 64)


def _samples(x: Tensor) -> list[Tensor]:
    return [
        torch.multinomial(x.expand(20000, 4), 2),
        torch.multinomial(x, 20000, replacement=True),
        torch.randperm(300),
        torch.empty(20000).geometric_(0.25),
        torch.empty(20000).cauchy_(1, 2),
        torch.empty(20000).log_normal_(0, 0.5),
        torch.normal(torch.arange(20000.0), 2.0),
        torch.randn(100001),
        torch.rand(100001),
        nn.Dropout(0.3)(torch.ones(40000)),
        F.scaled_dot_product_attention(*[x.expand(1, 64, 4)] * 3, dropout_p=0.5),
    ]


def _counts(values: Tensor, expected: list[float]) -> float:
    """Chi-square of how often each number is there."""
    counts = torch.bincount(values.flatten(), minlength=len(expected)).double()
    wanted = torch.tensor(expected) * values.numel()
    assert not counts[wanted == 0].any()
    return float(((counts - wanted)[wanted > 0] ** 2 / wanted[wanted > 0]).sum())


def test_numbers_are_distributed_as_they_are_to_be() -> None:
    p = torch.tensor([0.1, 0.0, 0.3, 0.6])
    net = hirc.compile(_samples, (p,), target="cpu", opt_level=0)
    first, again, order, geometric, cauchy, log_normal, normal, gauss, flat, kept, attended = net(p)
    # 2 and 3 degrees of freedom: one in a thousand is greater.
    assert _counts(first[:, 0], p.tolist()) < 14
    assert (first[:, 0] != first[:, 1]).all()
    assert _counts(again, p.tolist()) < 14
    assert order.sort().values.tolist() == list(range(300)) != order.tolist()
    assert _counts(order.reshape(3, 100)[0] // 100, [1 / 3] * 3) < 14
    assert geometric.min() == 1
    assert abs(geometric.mean() - 4) < 0.1
    assert abs(cauchy.median() - 1) < 0.1
    assert abs(log_normal.log().std() - 0.5) < 0.01
    assert abs((normal - torch.arange(20000)).std() - 2) < 0.04
    assert abs(gauss.mean()) < 0.01
    assert abs(gauss.var() - 1) < 0.015
    assert abs((gauss**4).mean() - 3) < 0.1
    assert abs(torch.corrcoef(torch.stack([gauss[:-1], gauss[1:]]))[0, 1]) < 0.01
    assert 0 <= flat.min() < 1e-4 < 1 - 1e-4 < flat.max() < 1
    assert _counts((flat * 16).long(), [1 / 16] * 16) < 38
    assert abs((kept == 0).float().mean() - 0.3) < 0.01
    assert torch.equal(kept[kept != 0].unique(), torch.tensor([1 / 0.7]))
    assert 0.5 < float(attended.mean() / p.mean()) < 2


def _with_own(x: Tensor) -> Tensor:
    return x.clone().normal_(generator=torch.Generator())


def _new_with_own(x: Tensor) -> Tensor:
    return x + torch.randn(x.shape, generator=torch.Generator())


def _poisson(x: Tensor) -> Tensor:
    return torch.poisson(x)


def _in_a_condition(x: Tensor) -> Tensor:
    def goes_on(x: Tensor) -> Tensor:
        return x.sum() < torch.rand(())

    def step(x: Tensor) -> tuple[Tensor]:
        return (x + 1,)

    return while_loop(goes_on, step, (x,))[0]


def _times_one(x: Tensor) -> Tensor:
    return x * torch.rand(())


def _plus_three(x: Tensor) -> Tensor:
    return x + torch.rand(3)


def _in_loops(x: Tensor) -> tuple[Tensor, ...]:
    """Numbers of iterations, of loops in them and of branches, and before and after all these."""

    def step(carried: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        scaled = map(_times_one, row)  # pyright: ignore[reportArgumentType]
        return carried + torch.randn(3), scaled.clone()

    def is_early(place: Tensor, _: Tensor) -> Tensor:
        return place < 3

    def more(place: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        return place + 1, row + torch.rand(3)

    def with_noise(x: Tensor) -> Tensor:
        return x + torch.rand(4, 3)

    first = torch.rand(2)
    rows = map(_plus_three, x)  # pyright: ignore[reportArgumentType]
    end, scaled = scan(step, x[0], x)
    _, row = while_loop(is_early, more, (torch.zeros((), dtype=torch.int64), x[0].clone()))
    noisy = torch.cond(x.sum() > 0, with_noise, torch.neg, (x,))
    return first, rows, end, scaled, row, noisy, torch.rand(2)


def _in_steps(x: Tensor) -> tuple[Tensor, ...]:
    """The same, without loops."""
    first = torch.rand(2)
    rows = torch.stack([row + torch.rand(3) for row in x])
    end, scaled = x[0], list[Tensor]()
    for row in x:
        scaled.append(torch.stack([each * torch.rand(()) for each in row]))
        end = end + torch.randn(3)
    row = x[0]
    for _ in range(3):
        row = row + torch.rand(3)
    noisy = x + torch.rand(4, 3)
    return first, rows, end, torch.stack(scaled), row, noisy, torch.rand(2)


def test_loops_and_branches_go_on_where_numbers_were_drawn() -> None:
    x = torch.rand(4, 3)
    nets = [
        hirc.compile(model, (x,), target="cpu", opt_level=0) for model in (_in_loops, _in_steps)
    ]
    for _ in range(2):
        torch.testing.assert_close(*(net(x) for net in nets), rtol=0, atol=0)
    # The branch that is not taken draws nothing.
    count = nets[0].state["hirc.generator"][1].clone()
    nets[0](-x)
    one, other = nets[0].state["hirc.generator"][1] - count, count / 2
    assert 0 < one < other


def test_no_generator_is_the_default_one() -> None:
    def model(x: Tensor, **given: Any) -> list[Tensor]:
        return [
            torch.rand(3, **given),
            torch.randn(x.shape, dtype=torch.float64, **given),
            torch.randint(9, x.shape, **given),
            torch.randint(-4, 9, (5,), **given),
            torch.randperm(6, **given),
        ]

    def with_none(x: Tensor) -> list[Tensor]:
        return model(x, generator=None)

    x = torch.zeros(2, 3)
    nets = [
        hirc.compile(each, (x,), target="cpu", opt_level=0, cache=False)
        for each in (model, with_none)
    ]
    torch.testing.assert_close(*(net(x) for net in nets), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (_with_own, "Generator"),
        (_new_with_own, "Generator"),
        (_poisson, "poisson"),
        (_in_a_condition, "within the condition of while_loop"),
    ],
)
def test_what_is_not_drawn_is_refused(model: Callable[[Tensor], Tensor], said: str) -> None:
    with pytest.raises(HircError, match=said) as caught:
        import_model(model, (torch.rand(4, 3),))
    assert isinstance(caught.value, UnsupportedError)


def test_nothing_is_seeded_without_numbers() -> None:
    net = hirc.compile(torch.relu, (torch.rand(3),), target="cpu", opt_level=0)
    with pytest.raises(InputError, match="no random numbers"):
        net.manual_seed(1)

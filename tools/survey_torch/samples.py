"""torch's database of operators, with samples of what each is called with."""

from __future__ import annotations

import random
import sys
import types
import unittest
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

# What they give is what memory held before, or no tensor.
_WITHOUT_VALUES = ("empty", "new_empty", "item", "equal", "allclose", "is_", "data_ptr")


def operators() -> dict[str, Any]:
    """torch's OpInfos by name; variants of tests have theirs in parentheses."""
    # Torch's tests, which define them, are of this class.
    tests: Any = types.ModuleType("expecttest")
    tests.TestCase = unittest.TestCase
    sys.modules.setdefault("expecttest", tests)
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, Any] = {}
    for info in op_db:
        name = info.name + (f"({info.variant_test_name})" if info.variant_test_name else "")
        if not info.name.startswith(_WITHOUT_VALUES):
            found[name] = info
    return found


@dataclass(frozen=True)
class Sample:
    """A call of an operator: a function of its tensors, and these."""

    name: str
    function: Callable[..., Any]
    tensors: tuple[Tensor, ...]

    @staticmethod
    def of(name: str, operator: Any, given: Any) -> Sample:
        leaves, spec = pytree.tree_flatten(((given.input, *given.args), given.kwargs))
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

        def call(*tensors: Tensor) -> Any:
            filled = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                filled[place] = tensor
            args, kwargs = pytree.tree_unflatten(filled, spec)
            return operator(*args, **kwargs)

        return Sample(name, call, tuple(leaves[place] for place in places))


def samples(name: str, dtype: torch.dtype, count: int, seed: int) -> Iterator[Sample]:
    """Some samples of an operator for an element type; none where it is not for that type."""
    info = operators()[name]
    if dtype not in info.dtypes:
        return
    torch.manual_seed(seed)
    given = list(info.sample_inputs("cpu", dtype, requires_grad=False))
    chosen: Sequence[int] = range(len(given))
    if len(given) > count:
        # The first is the plainest.
        rest = random.Random(f"{seed} {name}").sample(range(1, len(given)), count - 1)
        chosen = [0, *sorted(rest)]
    kind = str(dtype).removeprefix("torch.")
    for place in chosen:
        yield Sample.of(f"{name} {kind} {place}", info.op, given[place])

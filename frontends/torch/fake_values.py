"""Tensors without elements, which tracing takes in place of those with."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree


def new_mode() -> FakeTensorMode:
    """Returns a mode that torch.export takes tensors of, with open sizes too."""
    shapes = ShapeEnv(tracked_fakes=[])
    return FakeTensorMode(shape_env=shapes, allow_non_fake_inputs=True, export=True)


def has_no_elements(x: Any) -> bool:
    """Returns whether a value is a tensor of which nothing but its type is there."""
    return isinstance(x, Tensor) and (isinstance(x, FakeTensor) or x.is_meta)


def apart(model: nn.Module, given: Any) -> Any:
    """Returns the model's arguments, with a distinct tensor for each, in packed rows.

    torch.export merges inputs that are one tensor, or a tensor of the model: the exported program
    would then read only one of them in every call. A program takes packed rows of elements as they
    lie in memory: what a model asks of strides has to have the answer for these.
    """
    met = {id(held) for held in (*model.parameters(), *model.buffers())}

    def other(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        # Of a view that is conjugated or negative nothing else is in memory.
        x = x.resolve_conj().resolve_neg()
        is_packed = x.layout is not torch.strided or x.is_contiguous()
        if id(x) not in met and is_packed:
            met.add(id(x))
            return x
        made = x.detach().clone() if is_packed else x.detach().contiguous()
        return made.requires_grad_(x.requires_grad)

    return pytree.tree_map(other, given)


@contextmanager
def without_elements(model: nn.Module, given: Any) -> Generator[Any]:
    """Gives what the model is called with, for torch.export to trace the model in the block.

    Where a tensor of the model or an input is fake or on `meta`, all such become fake tensors of
    one mode, on the CPU where they were on `meta`. Those with elements stay.
    """
    held = [*model.parameters(), *model.buffers(), *pytree.tree_leaves(given)]
    if not any(map(has_no_elements, held)):
        yield given
        return
    mode = new_mode()
    made: dict[int, Tensor] = {}

    def fake(x: Any) -> Any:
        if not has_no_elements(x):
            return x
        if id(x) not in made:
            made[id(x)] = _fake(mode, x)
        return made[id(x)]

    replaced: list[tuple[dict[str, Any], str, Any]] = []
    for module in model.modules():
        for values in (vars(module)["_parameters"], vars(module)["_buffers"]):
            for name, value in list(values.items()):
                if has_no_elements(value):
                    replaced.append((values, name, value))
                    values[name] = fake(value)
    try:
        yield pytree.tree_map(fake, given)
    finally:
        for values, name, value in replaced:
            values[name] = value


def _fake(mode: FakeTensorMode, x: Tensor) -> Tensor:
    """Returns a fake tensor of the mode with the type, sizes and strides of another, or of
    `meta`'s.
    """
    device = x.fake_device if isinstance(x, FakeTensor) else torch.device("cpu")
    sizes, strides = tuple(map(int, x.shape)), tuple(map(int, x.stride()))
    room = torch.empty_strided(sizes, strides, dtype=x.dtype, device="meta")
    with mode:
        made = FakeTensor(mode, room, device)
        if isinstance(x, nn.Parameter):
            return nn.Parameter(made, requires_grad=x.requires_grad)
    return made

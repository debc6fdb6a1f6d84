"""Computes one network with its library and with torch: how they differ, and what they take.

The reference is the network in f64, or, where it cannot be computed in that, torch's own result.
"""

from __future__ import annotations

import copy
import json
import math
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from ...compiler.loader import load
from .catalogue import described, made, other_inputs

# A result is right that is no further from the reference than so many times torch's own...
_TIMES_EAGER = 8.0
# ... or than these parts of its greatest element.
_LEAST = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}
_WITHOUT_REFERENCE = 20.0
# Random numbers are drawn by torch's rules, of a state of this name.
_GENERATOR, _SEED = "hirc.generator", 7
# A contender is timed for so long, after calls that do not count: in the first ones hirc and torch
# load, plan, and record what they replay then.
_FIRST_CALLS = 6
_SECONDS = 0.3
_LEAST_CALLS, _MOST_CALLS = 5, 100


def compare(
    folder: Path,
    name: str,
    contenders: Sequence[str],
    wait_for_turn: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Returns the error of the network's library and of torch, whether it is right, and seconds.

    Seconds are the library's and those of each contender; none without contenders. The device
    works, but for its start, once `wait_for_turn` returns.
    """
    description = json.loads((folder / f"{name}.json").read_text())
    device = torch.device(description["device"])
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    model, inputs = made(description, folder)
    others = other_inputs(description, folder)
    torch.empty(1, device=device)
    wait_for_turn()
    model = model.to(device)

    def on_device(x: Any) -> Any:
        return x.to(device) if isinstance(x, Tensor) else x

    inputs = pytree.tree_map(on_device, inputs)
    constants = torch.load(folder / f"{name}.constants.pt", map_location=device)
    parameters = dict(model.named_parameters(remove_duplicate=False))
    held = {**parameters, **dict(model.named_buffers()), **constants}
    taken = description["arguments"]
    draws = _GENERATOR in taken
    if draws and device.type == "cpu":
        return {"right": False, "why": "draws random numbers, which torch draws so on GPUs alone"}
    weights = {each: held[each] for each in taken if isinstance(each, str) and each != _GENERATOR}
    library = load(folder / f"{name}.so", weights=weights or None)
    drive = described(description, folder).drive
    all_inputs = [inputs, *pytree.tree_map(on_device, others)]

    def program(*given: Any) -> Any:
        if draws:
            library.manual_seed(_SEED)
        leaves = pytree.tree_leaves(given)
        return library.main(*(leaves[each] for each in taken if not isinstance(each, str)))

    with torch.inference_mode():
        # A network that keeps state is compared with copies that keep theirs.
        theirs, exact = (Copy(model, wide=wide) for wide in (False, True))
        found: list[dict[str, Any]] = []
        for each in all_inputs:
            torch.manual_seed(_SEED)
            ours, eager = (tensors_of(drive(call, *each)) for call in (program, theirs.call))
            # In f64 torch draws other numbers.
            found.append(
                judged_outputs(ours, eager, None if draws else exact.reference(drive, each))
            )
        judged = min(found, key=lambda each: each["right"])
        arguments = [
            leaf for place, leaf in enumerate(pytree.tree_leaves(inputs)) if place in taken
        ]
        seconds: dict[str, float] = {}
        if contenders:
            # As the model is called, without what only finds its tensors.
            seconds["ours"] = _timed(lambda: library.main(*arguments), device)
        for contender in contenders:
            call = _contender(model, contender)
            seconds[contender] = _timed(lambda call=call: call(*inputs), device)
        return {**judged, "seconds": seconds}


def warm(folder: Path, name: str, contenders: Sequence[str]) -> None:
    """Compiles a network by each contender, into the cache of the compiler.

    The tensors' elements do not count for that: they are the device's own.
    """
    description = json.loads((folder / f"{name}.json").read_text())
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    with torch.device(description["device"]):
        model, inputs = made(description, folder)
    with torch.inference_mode():
        for contender in contenders:
            _contender(model, contender)(*inputs)


def _contender(model: nn.Module, name: str) -> Callable[..., Any]:
    if name == "eager":
        return model
    torch.compiler.reset()
    return torch.compile(model, mode="default" if name == "compile" else name)


def tensors_of(outputs: Any) -> list[Tensor]:
    """Returns the tensors of what a network gives, in order."""
    return [each for each in pytree.tree_leaves(outputs) if isinstance(each, Tensor)]


class Copy:
    """A copy of a network with state of its own, which may compute in f64."""

    def __init__(self, model: nn.Module, *, wide: bool) -> None:
        self.call = copy.deepcopy(model)
        if wide:
            self.call = self.call.double()

    def reference(self, drive: Callable[..., Any], inputs: Any) -> list[Tensor] | None:
        """Returns the outputs in f64; None where the network takes other types by name."""

        def wide(x: Any) -> Any:
            return x.double() if isinstance(x, Tensor) and x.is_floating_point() else x

        try:
            return tensors_of(drive(self.call, *pytree.tree_map(wide, inputs)))
        except (RuntimeError, TypeError):
            return None


def judged_outputs(
    ours: list[Tensor], eager: list[Tensor], reference: list[Tensor] | None
) -> dict[str, Any]:
    """Returns the greatest errors of any output, and whether each of hirc's is small enough."""
    shapes = [[list(each.shape) for each in outputs] for outputs in (ours, eager)]
    if shapes[0] != shapes[1]:
        return {"right": False, "why": f"its outputs are {shapes[0]}, torch's {shapes[1]}"}
    errors = {"ours": 0.0, "eager": 0.0}
    is_right = True
    for mine, theirs, wide in zip(ours, eager, reference or eager, strict=True):
        # Numbers of tokens are torch's: in f64 others may be the likeliest.
        exact = wide if theirs.is_floating_point() else theirs
        error, others = distance(mine, exact), distance(theirs, exact)
        if not math.isfinite(others):
            return {"right": False, "why": "torch's own result is not finite where it should be"}
        least = _LEAST.get(theirs.dtype, 0.0)
        bound = least * _WITHOUT_REFERENCE if reference is None else _TIMES_EAGER * others
        # Not a comparison with <=: nan is wrong.
        is_right = is_right and mine.dtype == theirs.dtype and error <= max(bound, least)
        errors = {"ours": max(errors["ours"], error), "eager": max(errors["eager"], others)}
    return {"right": is_right, "error": errors, "exact": reference is not None}


def distance(found: Tensor, wanted: Tensor) -> float:
    """Returns the greatest difference, as a part of the greatest element wanted; inf where nan
    differ.
    """
    if not wanted.numel():
        return 0.0
    one, other = found.double(), wanted.double()
    same = (one == other) | (one.isnan() & other.isnan())
    apart = torch.where(same, 0.0, (one - other).abs())
    apart = torch.where(apart.isnan(), torch.inf, apart)
    finite = torch.where(other.isfinite(), other.abs(), 0.0).max().item()
    most = apart.max().item()
    return most / finite if finite else most


def _timed(call: Callable[[], Any], device: torch.device) -> float:
    """The median seconds of a call, with its wait."""

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    for _ in range(_FIRST_CALLS):
        call()
        wait()
    taken: list[float] = []
    while len(taken) < _LEAST_CALLS or (sum(taken) < _SECONDS and len(taken) < _MOST_CALLS):
        start = time.perf_counter()
        call()
        wait()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)

"""Computes one network with its library and with torch: how they differ, and what they take.

The reference is the network in f64, or, where it cannot be computed in that, torch's own result.
"""

from __future__ import annotations

import copy
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from ...compiler.loader import load
from .catalogue import described, made, other_inputs
from .turn import Turn

# A result is right that is no further from the reference than so many times torch's own...
_TIMES_EAGER = 8.0
# ... or than these parts of its greatest element.
_LEAST = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}
_WITHOUT_REFERENCE = 20.0
# Random numbers are drawn by torch's rules, of a state of this name.
_GENERATOR, _SEED = "hirc.generator", 7
# Calls that do not count: in the first ones hirc and torch load, plan, and record what they replay
# then.
_FIRST_CALLS = 6
# Each is timed in so many rounds, in each for so long.
_ROUNDS = 4
_SECONDS = 0.08
_LEAST_CALLS, _MOST_CALLS = 2, 25
# Those that torch compiles for meanwhile keep their networks on the device: another one begins
# where this part of its memory is free, or after so many seconds.
_FREE, _MOST_WAITED, _ASKED_EVERY = 0.5, 120.0, 0.5


def compare(
    folder: Path, name: str, contenders: Sequence[str], turn: Turn
) -> Iterator[dict[str, Any]]:
    """Yields the error of the network's library and of torch, and whether it is right; then, with
    contenders, that with their and the library's seconds, and why contenders failed.

    The device works, but for its start, only in turns.
    """
    description = json.loads((folder / f"{name}.json").read_text())
    device = torch.device(description["device"])
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    model, inputs = made(description, folder)
    others = other_inputs(description, folder)
    torch.empty(1, device=device)
    turn.take()
    if device.type == "cuda":
        await_memory(turn, partial(torch.cuda.mem_get_info, device))
    with torch.inference_mode():
        network = _Network(folder, description, model, inputs, others)
        if network.draws and device.type == "cpu":
            why = "draws random numbers, which torch draws so on GPUs alone"
            yield {"right": False, "why": why}
            return
        judged = network.judged()
        yield {**judged, "seconds": {}}
        if contenders:
            # As the model is called, without what only finds its tensors.
            arguments = network.arguments(network.inputs)
            seconds, failed = seconds_of(
                lambda: network.library.main(*arguments),
                network.model,
                network.inputs,
                contenders,
                turn,
            )
            yield {**judged, "seconds": seconds, "failed": failed}
    turn.leave()


def await_memory(turn: Turn, free_and_all: Callable[[], tuple[int, int]]) -> None:
    """Leaves the turn to others until they have left enough memory, and takes it again."""
    end = time.monotonic() + _MOST_WAITED
    while True:
        free, whole = free_and_all()
        if free >= _FREE * whole or time.monotonic() > end:
            return
        turn.leave()
        time.sleep(_ASKED_EVERY)
        turn.take()


class _Network:
    """A network on its device: torch's model, the library, and their inputs."""

    def __init__(
        self,
        folder: Path,
        description: dict[str, Any],
        model: nn.Module,
        inputs: tuple[Any, ...],
        others: list[tuple[Any, ...]],
    ) -> None:
        name = description["name"]
        device = torch.device(description["device"])

        def on_device(x: Any) -> Any:
            return x.to(device) if isinstance(x, Tensor) else x

        self.model = model.to(device)
        self.inputs, *self.others = pytree.tree_map(on_device, [inputs, *others])
        constants = torch.load(folder / f"{name}.constants.pt", map_location=device)
        parameters = dict(model.named_parameters(remove_duplicate=False))
        held = {**parameters, **dict(model.named_buffers()), **constants}
        self._taken = description["arguments"]
        self.draws = _GENERATOR in self._taken
        names = [each for each in self._taken if isinstance(each, str) and each != _GENERATOR]
        weights = {each: held[each] for each in names}
        self.library = load(folder / f"{name}.so", weights=weights or None)
        self._drive = described(description, folder).drive

    def arguments(self, given: Any) -> list[Any]:
        """The leaves of inputs that the library's function takes."""
        leaves = pytree.tree_leaves(given)
        return [leaves[each] for each in self._taken if not isinstance(each, str)]

    def judged(self) -> dict[str, Any]:
        """Returns how far the outputs of all inputs are from their reference."""

        def program(*given: Any) -> Any:
            if self.draws:
                self.library.manual_seed(_SEED)
            return self.library.main(*self.arguments(given))

        # A network that keeps state is compared with copies that keep theirs.
        theirs, exact = (Copy(self.model, wide=wide) for wide in (False, True))
        found: list[dict[str, Any]] = []
        for each in (self.inputs, *self.others):
            torch.manual_seed(_SEED)
            ours, eager = (tensors_of(self._drive(call, *each)) for call in (program, theirs.call))
            # In f64 torch draws other numbers.
            wide = None if self.draws else exact.reference(self._drive, each)
            found.append(judged_outputs(ours, eager, wide))
        return min(found, key=lambda each: each["right"])


def seconds_of(
    ours: Callable[[], Any],
    model: nn.Module,
    inputs: tuple[Any, ...],
    contenders: Sequence[str],
    turn: Turn,
) -> tuple[dict[str, float], dict[str, str]]:
    """Returns the seconds of the library and of each contender, and why others of them failed.

    All are timed in one turn. It is held, but while torch compiles.
    """
    calls: dict[str, Callable[[], Any]] = {"ours": ours}
    failed: dict[str, str] = {}
    for contender in contenders:
        call = model if contender == "eager" else _compiled(model, contender, turn)
        try:
            call(*inputs)
            _wait()
        except Exception as error:  # noqa: BLE001 - whatever it fails with, others are timed
            inner = getattr(error, "inner_exception", error)
            failed[contender] = f"{type(inner).__name__}: {inner}".splitlines()[0]
        else:
            calls[contender] = lambda call=call: call(*inputs)
    return _timed(calls), failed


def _compiled(model: nn.Module, contender: str, turn: Turn) -> Callable[..., Any]:
    """Returns what torch.compile makes of a network, in one of its modes.

    It compiles without the device, and takes the turn again where it chooses by timing.
    """
    # Imported late: it takes seconds.
    from torch._dynamo import config
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx
    from torch._inductor.runtime.benchmarking import benchmarker

    options = list_mode_options("default" if contender == "compile" else contender)
    # Modes share the limit of a network.
    config.recompile_limit += 8

    def backend(graph: Any, inputs: Any) -> Any:
        _wait()
        # This may take long, and others need memory then.
        torch.cuda.empty_cache()
        turn.leave()
        try:
            return compile_fx(graph, inputs, config_patches=options)
        finally:
            turn.take()

    for name in ("benchmark", "benchmark_gpu"):
        setattr(benchmarker, name, _in_turn(getattr(benchmarker, name), turn))
    return torch.compile(model, backend=backend)


def _in_turn(function: Callable[..., Any], turn: Turn) -> Callable[..., Any]:
    def call(*arguments: Any, **words: Any) -> Any:
        turn.take()
        return function(*arguments, **words)

    return call


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


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


def _timed(calls: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """The median seconds of each call, with its wait.

    They are timed in rounds, so that a chip that gets warm favors none.
    """

    def took(call: Callable[[], Any]) -> float:
        start = time.perf_counter()
        call()
        _wait()
        return time.perf_counter() - start

    for call in calls.values():
        for _ in range(_FIRST_CALLS):
            took(call)
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for place in range(_ROUNDS):
        names = [*calls][:: 1 if place % 2 == 0 else -1]
        for name in names:
            took(calls[name])  # after another's
            spent: list[float] = []
            while len(spent) < _LEAST_CALLS or (sum(spent) < _SECONDS and len(spent) < _MOST_CALLS):
                spent.append(took(calls[name]))
            taken[name] += spent
    return {name: statistics.median(each) for name, each in taken.items()}

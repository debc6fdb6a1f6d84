"""Recurrent layers as loops over time, of which the length is no part of the program.

The inputs of all steps are multiplied at once before the loop, and in it the hidden state alone.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch.overrides import TorchFunctionMode

from ...compiler.errors import UnsupportedError
from .losses import ctc_loss
from .user_errors import stack_position

_ATEN = torch.ops.aten
# Takes what is carried, the inputs of a step, and what stays; returns what is carried on.
_Step = Callable[..., tuple[Tensor, ...]]


def recurrent_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of LSTM, GRU and RNN, of tensors that are not packed."""
    return {
        _ATEN.lstm.input: _lstm,
        _ATEN.gru.input: _gru,
        _ATEN.rnn_tanh.input: _rnn_tanh,
        _ATEN.rnn_relu.input: _rnn_relu,
    }


@contextmanager
def as_loops() -> Generator[None]:
    """Lets torch.export see recurrent layers as loops: its own steps make the length a constant.

    And a loss whose steps it cannot see.
    """
    key = DispatchKey.CompositeImplicitAutograd
    before = {operator: operator.py_kernels.get(key) for operator in recurrent_decompositions()}
    try:
        for operator, decomposition in recurrent_decompositions().items():
            _set_kernel(operator, key, decomposition)
        with _Functions():
            yield
    finally:
        for operator, kernel in before.items():
            _set_kernel(operator, key, kernel)


def _set_kernel(operator: Any, key: DispatchKey, kernel: Callable[..., Any] | None) -> None:
    if kernel is None:
        operator.py_kernels.pop(key, None)
    else:
        operator.py_kernels[key] = kernel
    operator._dispatch_cache.clear()


class _Functions(TorchFunctionMode):
    """Refuses packed sequences where they are made: torch.export fails later, and says less.

    Computes the loss of connectionist temporal classification as a loop.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "_pack_padded_sequence":
            raise UnsupportedError(
                "packed sequences are not supported: their sizes are elements of a tensor",
                position=stack_position("".join(traceback.format_stack())),
                op="aten._pack_padded_sequence",
                stage="import",
                hint="give the layer padded sequences, and mask what it returns",
            )
        if func in (torch.ctc_loss, torch.nn.functional.ctc_loss):
            return ctc_loss(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _lstm(x: Tensor, hx: Sequence[Tensor], *given: Any) -> tuple[Tensor, Tensor, Tensor]:
    output, (h, c) = _layers(_lstm_step, x, hx, *given)
    return output, h, c


def _gru(x: Tensor, hx: Tensor, *given: Any) -> tuple[Tensor, Tensor]:
    output, (h,) = _layers(_gru_step, x, [hx], *given)
    return output, h


def _rnn_tanh(x: Tensor, hx: Tensor, *given: Any) -> tuple[Tensor, Tensor]:
    output, (h,) = _layers(_tanh_step, x, [hx], *given)
    return output, h


def _rnn_relu(x: Tensor, hx: Tensor, *given: Any) -> tuple[Tensor, Tensor]:
    output, (h,) = _layers(_relu_step, x, [hx], *given)
    return output, h


def _lstm_step(
    h: Tensor, c: Tensor, inputs: Tensor, weight: Tensor, *more: Tensor
) -> tuple[Tensor, Tensor]:
    bias, projection = _rest(weight, more)
    sums = inputs + _linear(h, weight, bias)
    taken, kept, made, given = sums.chunk(4, -1)
    c = kept.sigmoid() * c + taken.sigmoid() * made.tanh()
    h = given.sigmoid() * c.tanh()
    return (h if projection is None else h @ projection.t()), c


def _gru_step(h: Tensor, inputs: Tensor, weight: Tensor, *more: Tensor) -> tuple[Tensor]:
    bias, _ = _rest(weight, more)
    reset_x, update_x, made_x = inputs.chunk(3, -1)
    reset_h, update_h, made_h = _linear(h, weight, bias).chunk(3, -1)
    update = (update_x + update_h).sigmoid()
    made = (made_x + (reset_x + reset_h).sigmoid() * made_h).tanh()
    return ((h - made) * update + made,)


def _tanh_step(h: Tensor, inputs: Tensor, weight: Tensor, *more: Tensor) -> tuple[Tensor]:
    return ((inputs + _linear(h, weight, _rest(weight, more)[0])).tanh(),)


def _relu_step(h: Tensor, inputs: Tensor, weight: Tensor, *more: Tensor) -> tuple[Tensor]:
    return ((inputs + _linear(h, weight, _rest(weight, more)[0])).relu(),)


def _rest(weight: Tensor, more: Sequence[Tensor]) -> tuple[Tensor | None, Tensor | None]:
    """Returns a bias and a projection, of which either may be missing."""
    bias = next((each for each in more if each.dim() == 1), None)
    return bias, next((each for each in more if each.dim() == weight.dim()), None)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product = x @ weight.t()
    return product if bias is None else product + bias


def _layers(
    step: _Step,
    x: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Returns the last layer's outputs, and each state at the ends, (layers, batch, size)."""
    if batch_first:
        x = x.transpose(0, 1)
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    weights = iter(params)
    ends: list[tuple[Tensor, ...]] = []
    for layer in range(num_layers):
        outputs: list[Tensor] = []
        for direction in range(directions):
            place = layer * directions + direction
            begin = [state[place] for state in hx]
            own = [next(weights) for _ in range(each)]
            output, end = _run(step, x, begin, own, has_biases, is_reversed=direction == 1)
            outputs.append(output)
            ends.append(end)
        x = torch.cat(outputs, -1) if bidirectional else outputs[0]
        if train and dropout and layer < num_layers - 1:
            x = torch.dropout(x, dropout, train=True)
    states = [torch.stack(list(values)) for values in zip(*ends, strict=True)]
    return (x.transpose(0, 1) if batch_first else x), states


def _run(
    step: _Step,
    x: Tensor,
    begin: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    *,
    is_reversed: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One layer in one direction: its outputs, (length, batch, size), and its states at the end."""
    given: Iterator[Tensor] = iter(params)
    of_inputs, of_state = next(given), next(given)
    inputs = x @ of_inputs.t()
    stays = [of_state]
    if has_biases:
        inputs = inputs + next(given)
        stays.append(next(given))
    stays += given
    if is_reversed:
        inputs = inputs.flip(0)

    def body(*values: Tensor) -> list[Tensor]:
        carried = step(*values)
        return [*carried, carried[0].clone()]

    *end, outputs = torch.ops.higher_order.scan(body, [*begin], [inputs], tuple(stays))
    return (outputs.flip(0) if is_reversed else outputs), tuple(end)

"""Recurrent layers as loops over time, of which the length is no part of the program.

The inputs of all steps are multiplied at once before the loop, and in it the hidden state alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

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

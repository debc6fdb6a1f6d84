"""Elements of 16 bits, which torch computes with in f32."""

from __future__ import annotations

import torch
from torch import Tensor

# How many bits a number of the type has, from its first to its last that is 1.
HALVES = {torch.float16: 11, torch.bfloat16: 8}


def widened(x: Tensor) -> Tensor:
    """Returns the elements as those that torch computes with."""
    return x.float() if x.dtype in HALVES else x

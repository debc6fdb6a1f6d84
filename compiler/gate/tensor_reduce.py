"""Reducing tensor copies: one intrinsic with the operation as an operand, or one an operation."""

from __future__ import annotations

import re

from .rule import Inexpressible, Rule

_NAME = r"@llvm\.nvvm\.cp\.async\.bulk\.tensor\.reduce\."
_PARTS = re.compile(rf"{_NAME}((?:tile|im2col)\.\dd)\((.*)")
_OPERAND = re.compile(r", (?:/\*[^*]*\*/ )?i32 (\d+)(?=, i1 )")
_PARAMETER = re.compile(r", i32 immarg(?: range\([^)]*\))?(?=, i1 )|, i32(?=, i1\b)")
# The operand's values, in order (NVPTX usage guide, TMA reduction).
_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


class TensorReduce(Rule):
    """`...tensor.reduce.tile.2d(..., i32 0, i1 false)` to `...reduce.add.tile.2d(..., i1 false)`.

    The declaration becomes one for each operation.
    """

    construct = "cp.async.bulk.tensor.reduce with an operand"
    triggers = ("tensor.reduce.tile.", "tensor.reduce.im2col.")
    pattern = rf"{_NAME}(?:tile|im2col)\.\dd\(.*"

    def rewrite(self, found: str) -> str:
        parts = _PARTS.fullmatch(found)
        if parts is None:
            raise Inexpressible
        shape, rest = parts.groups()
        operand = _OPERAND.search(rest)
        if operand is not None:
            rest = rest[: operand.start()] + rest[operand.end() :]
            return _name(_OPERATIONS[int(operand[1])], shape) + rest
        rest = _PARAMETER.sub("", rest, count=1)
        return "\ndeclare void ".join(_name(operation, shape) + rest for operation in _OPERATIONS)


def _name(operation: str, shape: str) -> str:
    return f"@llvm.nvvm.cp.async.bulk.tensor.reduce.{operation}.{shape}("


RULES: tuple[type[Rule], ...] = (TensorReduce,)

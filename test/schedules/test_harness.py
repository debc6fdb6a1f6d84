"""The harness finds what is wrong with a program."""

from __future__ import annotations

import pytest
from schedules.harness import Suite
from schedules.programs import Fused, Written

NEXT = Fused(
    "next",
    ("f32[r]",),
    ("f32[r]",),
    lambda x, y: y.roll(-1),
    ({"r": 0}, {"r": 5}),
    loops="r",
    captured=("f32[r]",),
    body="%one = arith.constant 1 : index\n%i = linalg.index 0 : index\n"
    "%j = arith.addi %i, %one : index\n%y = memref.load %cap0[%j] : CAP0\nlinalg.yield %y : f32",
)
NEGATED = Written(
    "negated",
    ("f32[r, 3]", "f32"),
    ("f32[r, 3]",),
    lambda x, k: -x * k,
    ({"r": 0}, {"r": 5}),
    source="""func.func @NAME(%x: tensor<?x3xf32>, %k: f32) -> tensor<?x3xf32> {
      %zero = arith.constant 0 : index
      %r = tensor.dim %x, %zero : tensor<?x3xf32>
      %ks = tensor.splat %k[%r] : tensor<?x3xf32>
      %y = arith.mulf %x, %ks : tensor<?x3xf32>
      %z = arith.negf %y : tensor<?x3xf32>
      return %z : tensor<?x3xf32>
    }""",
)
WRONG = Written(
    "wrong", NEGATED.inputs, NEGATED.outputs, lambda x, k: x, NEGATED.sizes, source=NEGATED.source
)

SUITE = Suite([NEXT, NEGATED, WRONG])


def test_programs_on_tensors() -> None:
    SUITE.check("negated")


def test_wrong_numbers() -> None:
    with pytest.raises(AssertionError, match=r"wrong with {'r': 5}, packed: output 0: .*differ"):
        SUITE.check("wrong")


def test_reads_past_the_end_have_no_number() -> None:
    with pytest.raises(AssertionError, match=r"next with {'r': 5}, packed: .*\(4,\) nan"):
        SUITE.check("next")


def test_checks() -> None:
    with pytest.raises(AssertionError, match="out-of-bounds read of 4 bytes"):
        SUITE.check_silence(["next"])

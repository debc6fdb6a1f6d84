"""One method a kind, on programs and on buffers: `p.gelu(x, out=y)`, `x.gelu()`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ...records import dataclass
from ..kinds import BINARY, REDUCE, TERNARY, UNARY

if TYPE_CHECKING:
    from .buffer import Buffer, Operand
    from .program import Program


class Elementwise(Protocol):
    """Computes an elementwise kind of operands that broadcast.

    The result goes to `out` where there is one, which is returned. `stream_axis` is an axis of the
    result that is spread over streams. Of scalars alone, without `out`, it is a scalar.
    """

    def __call__(
        self, *operands: Operand, out: Buffer | None = None, stream_axis: int | None = None
    ) -> Any: ...


class Reduction(Protocol):
    """Reduces a buffer over `axes`, one or several, all where none is given.

    On a program the buffer comes first. `keep_dims` keeps the axes with size 1; `out` and
    `stream_axis` are as for elementwise kinds.
    """

    def __call__(
        self,
        *arguments: Buffer | int | Sequence[int] | None,
        axes: int | Sequence[int] | None = None,
        keep_dims: bool = False,
        element: str | None = None,
        out: Buffer | None = None,
        stream_axis: int | None = None,
    ) -> Buffer: ...


class HasKinds(Protocol):
    """A program, or a buffer, which is then the first operand."""

    def kinds_of(self) -> tuple[Program, tuple[Buffer, ...]]: ...


@dataclass(frozen=True)
class _ElementwiseMethod:
    kind: str

    def __get__(self, instance: HasKinds, owner: type) -> Elementwise:
        program, own = instance.kinds_of()
        method = partial(program.compute_kind, self.kind, *own)
        meaning = {**UNARY, **BINARY, **TERNARY}[self.kind].meaning
        method.__doc__ = f"{meaning}. {Elementwise.__doc__}"
        return method


@dataclass(frozen=True)
class _ReductionMethod:
    kind: str

    def __get__(self, instance: HasKinds, owner: type) -> Reduction:
        program, own = instance.kinds_of()
        method = partial(program.reduce, self.kind, *own)
        method.__doc__ = f"{REDUCE[self.kind].meaning}. {Reduction.__doc__}"
        return method


class KindMethods:
    """The kinds of kinds.py by name. `minimum` and `maximum` are the elementwise ones; a Python
    keyword has an underscore after it.
    """

    neg = _ElementwiseMethod("neg")
    abs = _ElementwiseMethod("abs")
    sign = _ElementwiseMethod("sign")
    exp = _ElementwiseMethod("exp")
    exp2 = _ElementwiseMethod("exp2")
    log = _ElementwiseMethod("log")
    log2 = _ElementwiseMethod("log2")
    log1p = _ElementwiseMethod("log1p")
    expm1 = _ElementwiseMethod("expm1")
    sqrt = _ElementwiseMethod("sqrt")
    rsqrt = _ElementwiseMethod("rsqrt")
    reciprocal = _ElementwiseMethod("reciprocal")
    sin = _ElementwiseMethod("sin")
    cos = _ElementwiseMethod("cos")
    tan = _ElementwiseMethod("tan")
    tanh = _ElementwiseMethod("tanh")
    erf = _ElementwiseMethod("erf")
    sigmoid = _ElementwiseMethod("sigmoid")
    silu = _ElementwiseMethod("silu")
    relu = _ElementwiseMethod("relu")
    gelu = _ElementwiseMethod("gelu")
    gelu_tanh = _ElementwiseMethod("gelu_tanh")
    floor = _ElementwiseMethod("floor")
    ceil = _ElementwiseMethod("ceil")
    round = _ElementwiseMethod("round")
    trunc = _ElementwiseMethod("trunc")
    isnan = _ElementwiseMethod("isnan")
    not_ = _ElementwiseMethod("not")

    add = _ElementwiseMethod("add")
    sub = _ElementwiseMethod("sub")
    mul = _ElementwiseMethod("mul")
    div = _ElementwiseMethod("div")
    floordiv = _ElementwiseMethod("floordiv")
    mod = _ElementwiseMethod("mod")
    pow = _ElementwiseMethod("pow")
    atan2 = _ElementwiseMethod("atan2")
    minimum = _ElementwiseMethod("min")
    maximum = _ElementwiseMethod("max")
    and_ = _ElementwiseMethod("and")
    or_ = _ElementwiseMethod("or")
    xor = _ElementwiseMethod("xor")
    eq = _ElementwiseMethod("eq")
    ne = _ElementwiseMethod("ne")
    lt = _ElementwiseMethod("lt")
    le = _ElementwiseMethod("le")
    gt = _ElementwiseMethod("gt")
    ge = _ElementwiseMethod("ge")

    where = _ElementwiseMethod("where")
    fma = _ElementwiseMethod("fma")
    clamp = _ElementwiseMethod("clamp")

    sum = _ReductionMethod("sum")
    prod = _ReductionMethod("prod")
    mean = _ReductionMethod("mean")
    min = _ReductionMethod("min")
    max = _ReductionMethod("max")
    fmin = _ReductionMethod("fmin")
    fmax = _ReductionMethod("fmax")
    any = _ReductionMethod("any")
    all = _ReductionMethod("all")
    argmin = _ReductionMethod("argmin")
    argmax = _ReductionMethod("argmax")

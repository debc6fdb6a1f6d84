"""What the compute operations compute: every kind, the operands it takes, and what it means.

The tables are the one source: verifiers, interpreter and code generation read them.
"""

from enum import StrEnum

from ..records import dataclass


class Operands(StrEnum):
    """The element types a kind takes."""

    ANY = "any number"
    NUMBER = "floats and integers"
    FLOAT = "floats"
    INTEGER = "integers"
    BITS = "integers and i1"


class Gives(StrEnum):
    """The element type of a kind's result."""

    SAME = "the operands'"
    TRUTH = "i1"
    INDEX = "i64"
    CHOSEN = "the result's or destination's own"
    SUM = "the operand's, or a wider integer"


@dataclass(frozen=True)
class Kind:
    """One kind: the operands it takes, the element type it gives, and its meaning."""

    operands: Operands
    gives: Gives
    meaning: str


_SAME = Gives.SAME
_TRUTH = Gives.TRUTH

UNARY = {
    "neg": Kind(Operands.NUMBER, _SAME, "-x; integers wrap around"),
    "abs": Kind(Operands.NUMBER, _SAME, "the magnitude; the least integer is its own"),
    "sign": Kind(Operands.NUMBER, _SAME, "-1, 0 or 1; nan gives nan, -0.0 gives 0"),
    "exp": Kind(Operands.FLOAT, _SAME, "e to the power of x"),
    "exp2": Kind(Operands.FLOAT, _SAME, "2 to the power of x"),
    "log": Kind(Operands.FLOAT, _SAME, "the natural logarithm"),
    "log2": Kind(Operands.FLOAT, _SAME, "the logarithm to base 2"),
    "log1p": Kind(Operands.FLOAT, _SAME, "log(1 + x), precise near 0"),
    "expm1": Kind(Operands.FLOAT, _SAME, "exp(x) - 1, precise near 0"),
    "sqrt": Kind(Operands.FLOAT, _SAME, "the square root, rounded correctly"),
    "rsqrt": Kind(Operands.FLOAT, _SAME, "1 / sqrt(x)"),
    "reciprocal": Kind(Operands.FLOAT, _SAME, "1 / x"),
    "sin": Kind(Operands.FLOAT, _SAME, "the sine of x radians"),
    "cos": Kind(Operands.FLOAT, _SAME, "the cosine of x radians"),
    "tan": Kind(Operands.FLOAT, _SAME, "the tangent of x radians"),
    "tanh": Kind(Operands.FLOAT, _SAME, "the hyperbolic tangent"),
    "erf": Kind(Operands.FLOAT, _SAME, "the error function"),
    "sigmoid": Kind(Operands.FLOAT, _SAME, "1 / (1 + exp(-x))"),
    "silu": Kind(Operands.FLOAT, _SAME, "x * sigmoid(x)"),
    "relu": Kind(Operands.NUMBER, _SAME, "max(x, 0); nan stays nan"),
    "gelu": Kind(Operands.FLOAT, _SAME, "x/2 * (1 + erf(x / sqrt(2)))"),
    "gelu_tanh": Kind(Operands.FLOAT, _SAME, "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))"),
    "floor": Kind(Operands.NUMBER, _SAME, "the greatest integer not above x"),
    "ceil": Kind(Operands.NUMBER, _SAME, "the least integer not below x"),
    "round": Kind(Operands.NUMBER, _SAME, "the nearest integer, the even one of two"),
    "trunc": Kind(Operands.NUMBER, _SAME, "x without its fraction"),
    "isnan": Kind(Operands.FLOAT, _TRUTH, "whether x is nan"),
    "not": Kind(Operands.BITS, _SAME, "every bit turned over"),
    "cast": Kind(
        Operands.ANY,
        Gives.CHOSEN,
        "the same number as another type: to a float rounded to nearest even (f8E4M3FN: nan beyond "
        "its range; f8E5M2: infinity), to an integer toward zero (out of range: any value), "
        "between integers modulo 2^bits, to i1 whether it is not 0",
    ),
}

BINARY = {
    "add": Kind(Operands.NUMBER, _SAME, "x + y; integers wrap around"),
    "sub": Kind(Operands.NUMBER, _SAME, "x - y; integers wrap around"),
    "mul": Kind(Operands.NUMBER, _SAME, "x * y; integers wrap around"),
    "div": Kind(Operands.NUMBER, _SAME, "x / y; of integers, without the fraction"),
    "floordiv": Kind(Operands.NUMBER, _SAME, "the greatest whole number not above x / y"),
    "mod": Kind(Operands.NUMBER, _SAME, "x - y * floordiv(x, y): has the sign of y"),
    "pow": Kind(
        Operands.NUMBER,
        _SAME,
        "x to the power of y; a negative power of an integer other than 1 and -1 is 0",
    ),
    "atan2": Kind(
        Operands.FLOAT, _SAME, "the angle of the point (y, x), x being the first operand"
    ),
    "min": Kind(Operands.ANY, _SAME, "the lesser; nan if either is nan"),
    "max": Kind(Operands.ANY, _SAME, "the greater; nan if either is nan"),
    "and": Kind(Operands.BITS, _SAME, "bit by bit"),
    "or": Kind(Operands.BITS, _SAME, "bit by bit"),
    "xor": Kind(Operands.BITS, _SAME, "bit by bit"),
    "eq": Kind(Operands.ANY, _TRUTH, "x = y; false with nan"),
    "ne": Kind(Operands.ANY, _TRUTH, "x differs from y; true with nan"),
    "lt": Kind(Operands.ANY, _TRUTH, "x < y; false with nan"),
    "le": Kind(Operands.ANY, _TRUTH, "x <= y; false with nan"),
    "gt": Kind(Operands.ANY, _TRUTH, "x > y; false with nan"),
    "ge": Kind(Operands.ANY, _TRUTH, "x >= y; false with nan"),
}

# `where` takes an i1 first; what the table says is of its other two.
TERNARY = {
    "where": Kind(Operands.ANY, _SAME, "y where x is true, else z"),
    "fma": Kind(Operands.FLOAT, _SAME, "x * y + z, rounded once"),
    "clamp": Kind(Operands.NUMBER, _SAME, "min(max(x, y), z); nan if any is nan"),
}

REDUCE = {
    "sum": Kind(Operands.NUMBER, Gives.SUM, "the sum; of no elements 0"),
    "prod": Kind(Operands.NUMBER, Gives.SUM, "the product; of no elements 1"),
    "mean": Kind(Operands.FLOAT, _SAME, "the sum divided by the number; of no elements nan"),
    "min": Kind(
        Operands.ANY, _SAME, "the least; nan if any is nan; of no elements the type's greatest"
    ),
    "max": Kind(
        Operands.ANY, _SAME, "the greatest; nan if any is nan; of no elements the type's least"
    ),
    "fmin": Kind(
        Operands.FLOAT, _SAME, "the least that is not nan; of none infinity, nan if all are nan"
    ),
    "fmax": Kind(
        Operands.FLOAT, _SAME, "the greatest that is not nan; of none -infinity, nan if all are nan"
    ),
    "any": Kind(Operands.ANY, _TRUTH, "whether one is not 0"),
    "all": Kind(Operands.ANY, _TRUTH, "whether none is 0"),
    "argmin": Kind(
        Operands.ANY, Gives.INDEX, "the first place of the least (of a nan, if there is one)"
    ),
    "argmax": Kind(
        Operands.ANY, Gives.INDEX, "the first place of the greatest (of a nan, if there is one)"
    ),
}

COMMUNICATION = (
    "gather",
    "allgather",
    "scatter",
    "reduce",
    "allreduce",
    "reduce-scatter",
    "broadcast",
    "send-recv",
    "all-to-all",
    "permute",
)
COMMUNICATED_REDUCTION = ("sum", "prod", "min", "max", "avg")

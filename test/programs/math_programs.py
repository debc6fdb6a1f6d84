"""Programs that run the math dialect over edge values on a GPU, and the check of what they print.

`programs()` gives MLIR programs: one for each float type's operations of one operand, one for
those of more, one on vectors, one on integers. Each prints the bits of every result, one number
a line, operation by operation. `check` compares them with exact results rounded once, in units
in the last place, as CUDA documents its errors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import product

from programs import math_reference as reference
from programs.math_program_text import Column, Group, MathProgram, program, shaped
from programs.math_reference import BF16, F16, F32, F64, Format

# The largest distance of a function's result from the correctly rounded one, in units in the
# last place, for (float, double): CUDA C++ Programming Guide 13.0, appendix on mathematical
# functions, standard functions, tables of the maximum ulp errors. What is not listed is exact.
CUDA_ULP_ERRORS = {
    "acos": (2, 2),
    "acosh": (4, 3),
    "asin": (2, 2),
    "asinh": (3, 3),
    "atan": (2, 2),
    "atan2": (3, 2),
    "atanh": (3, 2),
    "cbrt": (1, 1),
    "cos": (2, 2),
    "cosh": (2, 1),
    "erf": (2, 2),
    "erfc": (4, 5),
    "exp": (2, 1),
    "exp2": (2, 1),
    "expm1": (1, 1),
    "log": (1, 1),
    "log10": (2, 1),
    "log1p": (1, 1),
    "log2": (1, 1),
    "powf": (4, 2),
    "rsqrt": (2, 1),
    "sin": (2, 2),
    "sinh": (3, 2),
    "tan": (4, 2),
    "tanh": (2, 1),
}

UNARY = [
    *("absf", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh"),
    *("erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2"),
    *("round", "roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
]
PREDICATES = ["isfinite", "isinf", "isnan", "isnormal"]
BINARY = [
    *("math.atan2", "math.copysign", "math.powf", "arith.divf", "arith.remf"),
    *("arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf"),
]
INTEGER_UNARY = ["absi", "ctlz", "ctpop", "cttz"]
VECTOR_LANES = 4


def programs() -> list[MathProgram]:
    """All programs, the same on every call."""
    made: list[MathProgram] = []
    for form in (F16, BF16, F32, F64):
        made.append(program(f"math_{form.name}_unary", [_unary_group(form)]))
        groups = (_binary_group(form), _fpowi_group(form), _ternary_group(form))
        made.append(program(f"math_{form.name}_multiple", groups))
    vectors = tuple(_unary_group(form, lanes=VECTOR_LANES) for form in (F16, F32))
    made.append(program("math_vector", vectors))
    made.append(program("math_integer", tuple(_integer_groups())))
    return made


def check(program: MathProgram, stdout: str) -> list[str]:
    """What is wrong with the printed results: one line each, empty when all is right."""
    printed = stdout.split()
    wanted = sum(len(group.columns) * len(group.rows) for group in program.groups)
    if len(printed) != wanted:
        return [f"{program.name}: {len(printed)} numbers printed, {wanted} expected"]
    numbers = iter(printed)
    violations: list[str] = []
    for group in program.groups:
        for column in group.columns:
            for row in group.rows:
                actual = int(next(numbers))
                wrong = _compare(column, row, actual)
                if wrong:
                    violations.append(f"{program.name}: {column.name}{_shown(row)}: {wrong}")
    return violations


def _compare(column: Column, row: Sequence[int], actual: int) -> str | None:
    expected, allowed = column.expected(row)
    form = column.result
    if isinstance(form, int):
        actual &= (1 << form) - 1
        return None if actual == expected else f"{actual:#x}, expected {expected:#x}"
    actual &= (1 << form.width) - 1
    value, exact = form.decode(actual), form.decode(expected)
    if math.isnan(value) or math.isnan(exact):
        right = math.isnan(value) and math.isnan(exact)
        return None if right else f"{value!r}, expected {exact!r}"
    if value == exact == 0.0 and not column.zero_signed:
        return None
    distance = abs(form.order(actual) - form.order(expected))
    if (actual ^ expected) & form.sign_bit or distance > allowed:
        return (
            f"{value!r} ({actual:#x}), expected {exact!r} ({expected:#x}): "
            f"{distance} ulp apart, {allowed} allowed"
        )
    return None


def _shown(row: Sequence[int]) -> str:
    return "(" + ", ".join(hex(bits) for bits in row) + ")"


def _allowed(name: str, form: Format) -> int:
    """f16 and bf16 functions go through f32, so they are right but for a rounding near a tie."""
    single, double = CUDA_ULP_ERRORS.get(name, (0, 0))
    if form is F64:
        return double
    return single if form is F32 else min(single, 1)


def _unary_group(form: Format, lanes: int = 1) -> Group:
    values = [(bits,) for bits in _edge_bits(form)]
    values += [(bits,) for bits in _random_bits(form, 96)]
    values += [(0,)] * (-len(values) % VECTOR_LANES)
    columns = [_unary_column(name, form, lanes) for name in UNARY]
    columns += [_sincos_column(number, form, lanes) for number in (0, 1)]
    columns += [_predicate_column(name, form, lanes) for name in PREDICATES]
    return Group((f"i{form.width}",), tuple(values), tuple(columns), lanes)


def _as_float(form: Format, count: int, lanes: int = 1) -> str:
    """Defines %x0, %x1, ... as the floats whose bits the inputs are."""
    types = f"{shaped(f'i{form.width}', lanes)} to {shaped(form.name, lanes)}"
    return "".join(f"%x{k} = arith.bitcast %in{k} : {types}\n" for k in range(count))


def _as_bits(form: Format, lanes: int = 1) -> str:
    types = f"{shaped(form.name, lanes)} to {shaped(f'i{form.width}', lanes)}"
    return f"%result = arith.bitcast %y : {types}\n"


def _unary_column(name: str, form: Format, lanes: int) -> Column:
    text = (
        f"{_as_float(form, 1, lanes)}%y = math.{name} %x0 : {shaped(form.name, lanes)}\n"
        f"{_as_bits(form, lanes)}"
    )
    allowed = _allowed(name, form)

    def expected(row: Sequence[int]) -> tuple[int, int]:
        return form.encode(reference.unary(name, form.decode(row[0]))), allowed

    return Column(f"math.{name} {shaped(form.name, lanes)}", text, expected, form)


def _sincos_column(number: int, form: Format, lanes: int) -> Column:
    name, results = ("sin", "%y, %other") if number == 0 else ("cos", "%other, %y")
    text = (
        f"{_as_float(form, 1, lanes)}{results} = math.sincos %x0 : {shaped(form.name, lanes)}\n"
        f"{_as_bits(form, lanes)}"
    )
    like = _unary_column(name, form, lanes)
    return Column(f"math.sincos#{number} {form.name}", text, like.expected, form)


def _predicate_column(name: str, form: Format, lanes: int) -> Column:
    text = (
        f"{_as_float(form, 1, lanes)}%y = math.{name} %x0 : {shaped(form.name, lanes)}\n"
        f"%result = arith.extui %y : {shaped('i1', lanes)} to {shaped(f'i{form.width}', lanes)}\n"
    )
    smallest_normal = 1 << form.stored

    def expected(row: Sequence[int]) -> tuple[int, int]:
        magnitude = row[0] & (form.sign_bit - 1)
        held = {
            "isfinite": magnitude < form.infinity,
            "isinf": magnitude == form.infinity,
            "isnan": magnitude > form.infinity,
            "isnormal": smallest_normal <= magnitude < form.infinity,
        }
        return int(held[name]), 0

    return Column(f"math.{name} {form.name}", text, expected, form.width)


def _binary_group(form: Format) -> Group:
    few = _edge_bits(form, few=True)
    pairs = zip(_random_bits(form, 64, "left"), _random_bits(form, 64, "right"), strict=True)
    rows = [*product(few, few), *pairs]
    columns = [_binary_column(op, form) for op in BINARY]
    return Group((f"i{form.width}",) * 2, tuple(rows), tuple(columns))


def _binary_column(op: str, form: Format) -> Column:
    name = op.partition(".")[2]
    text = f"{_as_float(form, 2)}%y = {op} %x0, %x1 : {form.name}\n{_as_bits(form)}"
    allowed = _allowed(name, form)

    def expected(row: Sequence[int]) -> tuple[int, int]:
        values = [form.decode(bits) for bits in row]
        return form.encode(reference.binary(name, *values)), allowed

    zero_signed = name not in ("maxnumf", "minnumf")
    return Column(f"{op} {form.name}", text, expected, form, zero_signed)


def _fpowi_group(form: Format) -> Group:
    """The exponent is one input of 64 bits; the narrower ones are cut from it."""
    near_one = [form.encode(1.0) + step for step in (-2, -1, 1, 2)]
    bases = [*_edge_bits(form, few=True), *near_one]
    exponents = [0, 1, 2, 3, 5, 10, 127, 1000, 2**24 + 1, 2**31 - 1, 2**53 + 1, 2**62 + 3]
    signed = [sign * exponent for exponent in exponents for sign in (1, -1)]
    rows = tuple(product(bases, [value & (2**64 - 1) for value in signed]))
    columns = [_fpowi_column(form, bits) for bits in (8, 16, 32, 64)]
    columns += [_constant_fpowi_column(form, exponent) for exponent in (-1, 0, 1, 2, 3, 4)]
    return Group((f"i{form.width}", "i64"), rows, tuple(columns))


def _fpowi_column(form: Format, bits: int) -> Column:
    cut = f"%n = arith.trunci %in1 : i64 to i{bits}\n" if bits < 64 else ""
    exponent_name = "%n" if cut else "%in1"
    text = (
        f"{_as_float(form, 1)}{cut}"
        f"%y = math.fpowi %x0, {exponent_name} : {form.name}, i{bits}\n{_as_bits(form)}"
    )
    once = _allowed("powf", form)
    exact_integers = 2**53 if form is F64 else 2**24

    def expected(row: Sequence[int]) -> tuple[int, int]:
        exponent = _signed(row[1], bits)
        value = reference.power_of_integer(form.decode(row[0]), exponent)
        # An exponent that is no float is two powers and their product.
        allowed = once if abs(exponent) <= exact_integers else 2 * once + 1
        return form.encode(value), allowed

    return Column(f"math.fpowi {form.name}, i{bits}", text, expected, form)


def _constant_fpowi_column(form: Format, exponent: int) -> Column:
    text = (
        f"{_as_float(form, 1)}%n = arith.constant {exponent} : i32\n"
        f"%y = math.fpowi %x0, %n : {form.name}, i32\n{_as_bits(form)}"
    )
    # Each product after the first adds a rounding; f16 and bf16 take them in f32.
    allowed = 0 if exponent < 3 else min(exponent - 1, 3 if form in (F32, F64) else 1)

    def expected(row: Sequence[int]) -> tuple[int, int]:
        return form.encode(reference.power_of_integer(form.decode(row[0]), exponent)), allowed

    return Column(f"math.fpowi {form.name}, {exponent}", text, expected, form)


def _ternary_group(form: Format) -> Group:
    few = _edge_bits(form, few=True)[::2]
    rows = list(product(few, few, few))
    rows += list(zip(*(_random_bits(form, 128, place) for place in "xyz"), strict=True))
    # A product halfway between two numbers, and a summand that only one rounding can see.
    halfway = (form.encode(1.0) + 1, form.encode(1.5))
    rows += [(*halfway, 1), (*halfway, form.sign_bit | 1)]
    kind = form.name

    def fused(row: Sequence[int]) -> tuple[int, int]:
        return form.encode(reference.fma(*(form.decode(bits) for bits in row))), 0

    def clamped(row: Sequence[int]) -> tuple[int, int]:
        value, low, high = (form.decode(bits) for bits in row)
        # Bounds the wrong way round give poison, and NaN is none: the program swaps them.
        low, high = (0.0, 1.0) if math.isnan(low + high) else sorted((low, high))
        return form.encode(reference.clamp(value, low, high)), 0

    fma_text = f"{_as_float(form, 3)}%y = math.fma %x0, %x1, %x2 : {kind}\n{_as_bits(form)}"
    clamp_text = (
        f"{_as_float(form, 3)}"
        f"%zero = arith.constant 0.0 : {kind}\n%one = arith.constant 1.0 : {kind}\n"
        f"%sum = arith.addf %x1, %x2 : {kind}\n"
        f"%unordered = arith.cmpf uno, %sum, %sum : {kind}\n"
        f"%swapped = arith.cmpf ogt, %x1, %x2 : {kind}\n"
        f"%l = arith.select %swapped, %x2, %x1 : {kind}\n"
        f"%h = arith.select %swapped, %x1, %x2 : {kind}\n"
        f"%low = arith.select %unordered, %zero, %l : {kind}\n"
        f"%high = arith.select %unordered, %one, %h : {kind}\n"
        f"%y = math.clampf %x0 to [%low, %high] : {kind}\n{_as_bits(form)}"
    )
    columns = (
        Column(f"math.fma {kind}", fma_text, fused, form),
        Column(f"math.clampf {kind}", clamp_text, clamped, form),
    )
    return Group((f"i{form.width}",) * 3, tuple(rows), columns)


def _integer_groups() -> list[Group]:
    groups: list[Group] = []
    for width in (8, 16, 32, 64):
        edges = [0, 1, 2, 3, 7, (1 << width) - 1, (1 << width) - 2, 1 << (width - 1)]
        edges += [(1 << (width - 1)) - 1, (1 << width) - 3]
        generator = random.Random(width)
        values = edges + [generator.getrandbits(width) for _ in range(30)]
        columns = tuple(_integer_column(name, width) for name in INTEGER_UNARY)
        groups.append(Group((f"i{width}",), tuple((value,) for value in values), columns))
        exponents = [0, 1, 2, 3, 5, 8, 31, 100, (1 << width) - 1, (1 << width) - 2]
        rows = tuple(product(values[:20], exponents))
        groups.append(Group((f"i{width}",) * 2, rows, (_ipowi_column(width),)))
    return groups


def _integer_column(name: str, width: int) -> Column:
    def expected(row: Sequence[int]) -> tuple[int, int]:
        return reference.integer_unary(name, row[0], width), 0

    return Column(
        f"math.{name} i{width}", f"%result = math.{name} %in0 : i{width}\n", expected, width
    )


def _ipowi_column(width: int) -> Column:
    def expected(row: Sequence[int]) -> tuple[int, int]:
        base, exponent = (_signed(bits, width) for bits in row)
        return reference.integer_power(base, exponent, width), 0

    text = f"%result = math.ipowi %in0, %in1 : i{width}\n"
    return Column(f"math.ipowi i{width}", text, expected, width)


def _signed(bits: int, width: int) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def _edge_bits(form: Format, few: bool = False) -> list[int]:
    """Both signs of zero, denormals, the smallest normal, ordinary and large values, and NaN."""
    normal, one = 1 << form.stored, form.encode(1.0)
    largest = form.infinity - 1
    magnitudes = [0, 1, normal, form.encode(0.5), one, form.encode(math.pi), largest]
    magnitudes += [form.infinity, form.encode(3.0)]
    if not few:
        magnitudes += [2, normal - 1, normal + 1, one - 1, one + 1, largest - 1]
        magnitudes += [form.encode(value) for value in _ORDINARY]
    nan = form.infinity | (normal >> 1)
    patterns = [bits | sign for bits in magnitudes for sign in (0, form.sign_bit)]
    return list(dict.fromkeys([*patterns, nan, nan | form.sign_bit]))


_ORDINARY = (
    *(1e-7, 1e-3, 0.1, 0.25, 0.75, 0.9, 1.1, 1.5, 2.0, 2.5, math.e, math.pi / 2, 4.0, 5.5),
    *(8.0, 10.0, 11.0, 17.0, 27.0, 60.0, 87.5, 88.5, 89.0, 100.0, 103.5, 126.5, 500.0),
    *(700.0, 709.5, 744.0, 1000.0, 1e5, 1e6, 1e10, 1e20),
)


def _random_bits(form: Format, count: int, seed: str = "") -> list[int]:
    """Bit patterns drawn with a fixed seed: half over all exponents, half of ordinary size."""
    generator = random.Random(f"{form.name} {seed}")
    anywhere = [generator.getrandbits(form.width) for _ in range(count // 2)]
    return [*anywhere, *(form.encode(generator.gauss(0.0, 4.0)) for _ in range(count // 2))]

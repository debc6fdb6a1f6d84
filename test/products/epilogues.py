"""What may follow a matrix product: what the library does in its call, and what is nearly that.

A body reads the sum %s and, where it names it, the bias %c, and gives %y; all are f32.
"""

from __future__ import annotations

import re
import struct

_BIASED = "%x = arith.addf %s, %c : f32\n"


def numbers(**constants: str) -> str:
    """The definitions of constants."""
    return "".join(f"%{name} = arith.constant {text} : f32\n" for name, text in constants.items())


def _with_zero(body: str) -> str:
    return numbers(zero="0.0") + body


def _compared(comparison: str, chosen: str, otherwise: str) -> str:
    return _with_zero(
        f"%is = arith.cmpf {comparison} : f32\n%y = arith.select %is, {chosen}, {otherwise} : f32"
    )


def _gelu(
    root: str = "0.797884583",
    small: str = "0.044715",
    half: str = "0.5",
    one: str = "1.0",
    start: str = _BIASED,
    cube: str = "%q = arith.mulf %x, %x : f32\n%cube = arith.mulf %q, %x : f32\n",
    inner: str = "%i = arith.addf %x, %k : f32\n",
    tangent: str = "%t = math.tanh %j : f32\n",
    above: str = "%a = arith.addf %t, %one : f32\n",
    end: str = "%h = arith.mulf %x, %half : f32\n%y = arith.mulf %h, %a : f32",
) -> str:
    return (
        start
        + numbers(root=root, small=small, half=half, one=one, two="2.0", three="3.0", four="4.0")
        + "%i3 = arith.constant 3 : i32\n%i4 = arith.constant 4 : i32\n"
        + cube
        + "%k = arith.mulf %cube, %small : f32\n"
        + inner
        + "%j = arith.mulf %root, %i : f32\n"
        + tangent
        + above
        + end
    )


def _beside(number: str, steps: int) -> str:
    """The f32 so many steps from a number, in bits."""
    (bits,) = struct.unpack("<I", struct.pack("<f", float(number)))
    return f"0x{bits + steps:08X}"


_BIAS = {
    "bias": "%y = arith.addf %s, %c : f32",
    "bias_turned": "%y = arith.addf %c, %s : f32",
}
_RELU = {
    "maximum": _with_zero("%y = arith.maximumf %s, %zero : f32"),
    "maximum_turned": _with_zero("%y = arith.maximumf %zero, %s : f32"),
    "ugt": _compared("ugt, %s, %zero", "%s", "%zero"),
    "uge": _compared("uge, %s, %zero", "%s", "%zero"),
    "ult_turned": _compared("ult, %zero, %s", "%s", "%zero"),
    "ule_turned": _compared("ule, %zero, %s", "%s", "%zero"),
    "olt": _compared("olt, %s, %zero", "%zero", "%s"),
    "ole": _compared("ole, %s, %zero", "%zero", "%s"),
    "ogt_turned": _compared("ogt, %zero, %s", "%zero", "%s"),
    "oge_turned": _compared("oge, %zero, %s", "%zero", "%s"),
    "relu_of_biased": _BIASED + _with_zero("%y = arith.maximumf %x, %zero : f32"),
}
# Of a nan these give 0, where the library's relu keeps it.
DROPS_NAN = {
    "maxnum": _with_zero("%y = arith.maxnumf %s, %zero : f32"),
    "maxnum_turned": _with_zero("%y = arith.maxnumf %zero, %s : f32"),
    "ogt": _compared("ogt, %s, %zero", "%s", "%zero"),
    "oge": _compared("oge, %s, %zero", "%s", "%zero"),
    "olt_turned": _compared("olt, %zero, %s", "%s", "%zero"),
    "ole_turned": _compared("ole, %zero, %s", "%s", "%zero"),
    "ult": _compared("ult, %s, %zero", "%zero", "%s"),
    "ule": _compared("ule, %s, %zero", "%zero", "%s"),
    "ugt_turned": _compared("ugt, %zero, %s", "%zero", "%s"),
    "uge_turned": _compared("uge, %zero, %s", "%zero", "%s"),
}
# The same where the program says that there is no nan.
_WITHOUT_NAN = {
    f"{name}_nnan": re.sub(r"(maxnumf .*|cmpf .*) :", r"\1 fastmath<nnan> :", body)
    for name, body in DROPS_NAN.items()
}
_GELU = {
    "gelu": _gelu(),
    "gelu_powf": _gelu(cube="%cube = math.powf %x, %three : f32\n"),
    "gelu_fpowi": _gelu(cube="%cube = math.fpowi %x, %i3 : f32, i32\n"),
    "gelu_square": _gelu(cube="%q = math.powf %x, %two : f32\n%cube = arith.mulf %x, %q : f32\n"),
    "gelu_half_last": _gelu(end="%h = arith.mulf %a, %x : f32\n%y = arith.mulf %h, %half : f32"),
    "gelu_half_inside": _gelu(end="%h = arith.mulf %half, %a : f32\n%y = arith.mulf %x, %h : f32"),
    "gelu_turned": _gelu(
        start="%x = arith.addf %c, %s : f32\n",
        inner="%i = arith.addf %k, %x : f32\n",
        above="%a = arith.addf %one, %t : f32\n",
    ),
}
# What the library computes, with the activation that it is.
LIBRARY: dict[str, tuple[str, str]] = {
    name: (body, activation)
    for bodies, activation in (
        (_BIAS, ""),
        (_RELU | _WITHOUT_NAN, "relu"),
        (_GELU, "gelu_tanh"),
    )
    for name, body in bodies.items()
}

_BIAS_NEARLY = {
    "difference": "%y = arith.subf %s, %c : f32",
    "scaled_by_row": "%y = arith.mulf %s, %c : f32",
    "bias_twice": _BIASED + "%y = arith.addf %x, %c : f32",
    "bias_doubled": "%x = arith.addf %c, %c : f32\n%y = arith.addf %s, %x : f32",
    "sum_twice": "%y = arith.addf %s, %s : f32",
    "sum_and_bias_twice": _BIASED + "%y = arith.addf %x, %s : f32",
    "greater_than_bias": "%y = arith.maximumf %s, %c : f32",
    "little_added": numbers(little="1.0e-07") + "%y = arith.addf %s, %little : f32",
    "zero_added": _with_zero("%y = arith.addf %s, %zero : f32"),
    "alpha": numbers(half="0.5") + "%y = arith.mulf %s, %half : f32",
    "alpha_nearly_1": numbers(one=_beside("1.0", 1)) + "%y = arith.mulf %s, %one : f32",
    "alpha_and_bias": numbers(two="2.0")
    + "%x = arith.mulf %s, %two : f32\n%y = arith.addf %x, %c : f32",
    "beta": numbers(two="2.0") + "%x = arith.mulf %c, %two : f32\n%y = arith.addf %s, %x : f32",
}
_RELU_NEARLY = {
    "clamp_below": numbers(low="-10.0") + "%y = arith.maximumf %s, %low : f32",
    "clamp_far_below": numbers(low="-1.0e+30") + "%y = arith.maximumf %s, %low : f32",
    "above_little": numbers(low="1.0e-07") + "%y = arith.maximumf %s, %low : f32",
    "above_least": numbers(low="0x00000001") + "%y = arith.maximumf %s, %low : f32",
    "above_least_negative": numbers(low="0x80000001") + "%y = arith.maximumf %s, %low : f32",
    "above_minus_0": numbers(low="-0.0") + "%y = arith.maximumf %s, %low : f32",
    "minimum": _with_zero("%y = arith.minnumf %s, %zero : f32"),
    "relu_of_twice": _with_zero(
        "%x = arith.addf %s, %s : f32\n%y = arith.maximumf %x, %zero : f32"
    ),
    "relu_then_bias": _with_zero(
        "%x = arith.maximumf %s, %zero : f32\n%y = arith.addf %x, %c : f32"
    ),
    "relu_of_bias": _with_zero("%x = arith.maximumf %c, %zero : f32\n%y = arith.addf %x, %s : f32"),
    "arms_swapped": _compared("ogt, %s, %zero", "%zero", "%s"),
    "arms_swapped_ult": _compared("ult, %s, %zero", "%s", "%zero"),
    "only_equal": _compared("oeq, %s, %zero", "%s", "%zero"),
    "not_equal": _compared("une, %s, %zero", "%s", "%zero"),
    "of_bias_by_sum": _compared("ogt, %s, %zero", "%c", "%zero"),
    "of_sum_by_bias": _compared("ogt, %c, %zero", "%s", "%zero"),
    "threshold": numbers(low="0.25") + _compared("ogt, %s, %low", "%s", "%zero"),
    "to_a_number": numbers(low="-1.0") + _compared("ogt, %s, %zero", "%s", "%low"),
    "leaky": numbers(slope="0.01")
    + "%l = arith.mulf %s, %slope : f32\n"
    + _compared("ogt, %s, %zero", "%s", "%l"),
    "barely_leaky": numbers(slope="1.0e-09")
    + "%l = arith.mulf %s, %slope : f32\n"
    + _compared("ogt, %s, %zero", "%s", "%l"),
    "step": numbers(one="1.0") + _compared("ogt, %s, %zero", "%one", "%zero"),
    "relu6": numbers(six="6.0", zero="0.0")
    + "%below = arith.cmpf ult, %s, %zero : f32\n"
    + "%x = arith.select %below, %zero, %s : f32\n"
    + "%over = arith.cmpf ugt, %x, %six : f32\n"
    + "%y = arith.select %over, %six, %x : f32",
    "biased_relu_below_20": _BIASED
    + numbers(most="20.0", zero="0.0")
    + "%r = arith.maximumf %x, %zero : f32\n%y = arith.minnumf %r, %most : f32",
    "relu_squared": _with_zero("%r = arith.maximumf %s, %zero : f32\n%y = arith.mulf %r, %r : f32"),
    "absolute": "%y = math.absf %s : f32",
    "rounded_between": _with_zero(
        "%n = arith.truncf %s : f32 to f16\n%w = arith.extf %n : f16 to f32\n"
        "%y = arith.maximumf %w, %zero : f32"
    ),
}
_GELU_NEARLY = {
    "gelu_root_above": _gelu(root=_beside("0.797884583", 1)),
    "gelu_root_below": _gelu(root=_beside("0.797884583", -1)),
    "gelu_wrong_root": _gelu(root="0.797724"),
    "gelu_small_above": _gelu(small=_beside("0.044715", 1)),
    "gelu_half_above": _gelu(half=_beside("0.5", 1)),
    "gelu_one_above": _gelu(one=_beside("1.0", 1)),
    "gelu_square_inside": _gelu(cube="%cube = arith.mulf %x, %x : f32\n"),
    "gelu_fourth": _gelu(cube="%cube = math.fpowi %x, %i4 : f32, i32\n"),
    "gelu_power_4": _gelu(cube="%cube = math.powf %x, %four : f32\n"),
    "gelu_power_turned": _gelu(cube="%cube = math.powf %three, %x : f32\n"),
    "gelu_of_the_sum_outside": _gelu(
        end="%h = arith.mulf %s, %half : f32\n%y = arith.mulf %h, %a : f32"
    ),
    "gelu_of_the_sum_inside": _gelu(inner="%i = arith.addf %s, %k : f32\n"),
    "gelu_difference": _gelu(above="%a = arith.subf %one, %t : f32\n"),
    "gelu_inner_difference": _gelu(inner="%i = arith.subf %x, %k : f32\n"),
    "gelu_erf_outside": _gelu(tangent="%t = math.erf %j : f32\n"),
    "gelu_without_half": _gelu(end="%y = arith.mulf %x, %a : f32"),
    "gelu_twice_x": _gelu(end="%h = arith.mulf %x, %x : f32\n%y = arith.mulf %h, %a : f32"),
    "gelu_then_bias": _gelu(
        end="%h = arith.mulf %x, %half : f32\n%g = arith.mulf %h, %a : f32\n"
        "%y = arith.addf %g, %c : f32"
    ),
    "gelu_erf": _BIASED
    + numbers(root="0.707106769", half="0.5", one="1.0")
    + "%j = arith.mulf %x, %root : f32\n%t = math.erf %j : f32\n"
    + "%a = arith.addf %t, %one : f32\n%h = arith.mulf %x, %half : f32\n"
    + "%y = arith.mulf %h, %a : f32",
    "silu": _BIASED
    + numbers(one="1.0")
    + "%n = arith.negf %x : f32\n%e = math.exp %n : f32\n%d = arith.addf %e, %one : f32\n"
    + "%y = arith.divf %x, %d : f32",
    "quick_gelu": _BIASED
    + numbers(one="1.0", by="-1.702")
    + "%n = arith.mulf %x, %by : f32\n%e = math.exp %n : f32\n%d = arith.addf %e, %one : f32\n"
    + "%y = arith.divf %x, %d : f32",
    "tanh": "%y = math.tanh %s : f32",
    # Each square of a square is one operation: writing out the factors would not end.
    "many_factors": "%x0 = arith.mulf %s, %s : f32\n"
    + "".join(f"%x{n + 1} = arith.mulf %x{n}, %x{n} : f32\n" for n in range(60))
    + numbers(half="0.5")
    + "%y = arith.mulf %x60, %half : f32",
}
# What no call of the library computes, near as it is.
NEARLY: dict[str, str] = DROPS_NAN | _BIAS_NEARLY | _RELU_NEARLY | _GELU_NEARLY


def function(name: str, body: str, *, rows: int, terms: int, columns: int) -> str:
    """A function of a product that starts with zeros and an elementwise operation."""
    x, w = f"tensor<{rows}x{terms}xf32>", f"tensor<{terms}x{columns}xf32>"
    bias, result = f"tensor<{columns}xf32>", f"tensor<{rows}x{columns}xf32>"
    has_bias = "%c" in re.findall(r"%\w+", body)
    reads, types = ("%product, %bias", f"{result}, {bias}") if has_bias else ("%product", result)
    maps = "affine_map<(i, j) -> (i, j)>, " + "affine_map<(i, j) -> (j)>, " * has_bias
    return f"""
func.func @{name}(%left: {x}, %right: {w}, %bias: {bias}) -> {result} {{
  %nothing = arith.constant 0.0 : f32
  %empty = tensor.empty() : {result}
  %filled = linalg.fill ins(%nothing : f32) outs(%empty : {result}) -> {result}
  %product = linalg.matmul ins(%left, %right : {x}, {w}) outs(%filled : {result}) -> {result}
  %result = linalg.generic {{indexing_maps = [{maps}affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}}
    ins({reads} : {types}) outs(%empty : {result}) {{
  ^bb0(%s: f32, {"%c: f32, " * has_bias}%o: f32):
    {body}
    linalg.yield %y : f32
  }} -> {result}
  return %result : {result}
}}"""

"""Matrix products as program texts, for tests on the CPU device and on a GPU."""

from __future__ import annotations

from collections.abc import Mapping

PAIRS = [
    ("f32", "f32"),
    ("f64", "f64"),
    ("f16", "f16"),
    ("f16", "f32"),
    ("bf16", "bf16"),
    ("bf16", "f32"),
]
EINSUMS = [
    "mk,kn->mn",
    "km,kn->mn",
    "mk,nk->mn",
    "mk,kn->nm",
    "bmk,bkn->bmn",
    "bmk,bnk->bmn",
    "bmk,kn->bmn",
    "bsk,nk->bsn",
    "abmk,abkn->abmn",
    "ambk,anbk->abmn",
    "mkl,kln->mn",
    "mk,k->m",
    "k,kn->n",
    "k,k->",
]
# Products of square matrices that are timed: element type, size.
TIMED = [
    ("bf16", 4096),
    ("bf16", 8192),
    ("f16", 4096),
    ("f16", 8192),
    ("f32", 4096),
    ("tf32", 4096),
    ("f64", 4096),
]


def name_of(einsum: str, element: str, result: str, *, accumulates: bool = False) -> str:
    letters = einsum.replace(",", "_").replace("->", "_to_")
    return f"p_{letters}_{element}_{result}{'_added' if accumulates else ''}"


def contraction(
    einsum: str,
    element: str,
    result: str,
    *,
    accumulates: bool = False,
    known: Mapping[str, int] | None = None,
) -> str:
    """A function of one product; sizes that are not known are open."""
    inputs, _, output = einsum.partition("->")
    first, second = inputs.split(",")
    loops = sorted(set(first + second))
    extents = dict.fromkeys(loops, "?") | {k: str(v) for k, v in (known or {}).items()}
    kinds = [
        f"tensor<{''.join(f'{extents[letter]}x' for letter in text)}{kind}>"
        for text, kind in ((first, element), (second, element), (output, result))
    ]
    maps = ", ".join(
        f"affine_map<({', '.join(loops)}) -> ({', '.join(text)})>"
        for text in (first, second, output)
    )
    sizes: list[str] = []
    body: list[str] = []
    for place, letter in enumerate(output):
        source, text, kind = (
            ("%x", first, kinds[0]) if letter in first else ("%y", second, kinds[1])
        )
        body.append(f"%a{place} = arith.constant {text.index(letter)} : index")
        body.append(f"%s{place} = tensor.dim {source}, %a{place} : {kind}")
        if extents[letter] == "?":
            sizes.append(f"%s{place}")
    start = "%z"
    taken = f"%x: {kinds[0]}, %y: {kinds[1]}"
    if accumulates:
        taken += f", %z: {kinds[2]}"
    else:
        body += [
            f"%zero = arith.constant {'0' if result.startswith('i') else '0.0'} : {result}",
            f"%empty = tensor.empty({', '.join(sizes)}) : {kinds[2]}",
            f"%z = linalg.fill ins(%zero : {result}) outs(%empty : {kinds[2]}) -> {kinds[2]}",
        ]
    lines = "\n  ".join(body)
    name = name_of(einsum, element, result, accumulates=accumulates)
    return f"""func.func @{name}({taken}) -> {kinds[2]} {{
  {lines}
  %r = linalg.contract indexing_maps = [{maps}]
    ins(%x, %y : {kinds[0]}, {kinds[1]}) outs({start} : {kinds[2]}) -> {kinds[2]}
  return %r : {kinds[2]}
}}"""


def everything() -> str:
    texts = [contraction(einsum, *pair) for einsum in EINSUMS for pair in PAIRS]
    texts += [contraction("mk,kn->mn", *pair, accumulates=True) for pair in PAIRS]
    return "\n".join(texts)


HOST_IR = """
"hir.program"() ({{
^bb0(%x: memref<?x?x?x{0}>, %y: memref<?x?x?x{0}>):
  %z = "hir.matmul"(%x, %y) : (memref<?x?x?x{0}>, memref<?x?x?x{0}>) -> memref<?x?x?x{0}>
  "hir.output"(%z) {{name = "z"}} : (memref<?x?x?x{0}>) -> ()
}}) {{sym_name = "matmul",
    function_type = (memref<?x?x?x{0}>, memref<?x?x?x{0}>) -> memref<?x?x?x{0}>}} : () -> ()
"hir.program"() ({{
^bb0(%x: memref<?x?x?x{0}>, %w: memref<?x?x{0}>, %b: memref<?x{0}>):
  %z = "hir.linear"(%x, %w, %b) {{operandSegmentSizes = array<i32: 1, 1, 1, 0>}}
    : (memref<?x?x?x{0}>, memref<?x?x{0}>, memref<?x{0}>) -> memref<?x?x?x{0}>
  "hir.output"(%z) {{name = "z"}} : (memref<?x?x?x{0}>) -> ()
}}) {{sym_name = "linear",
    function_type = (memref<?x?x?x{0}>, memref<?x?x{0}>, memref<?x{0}>) -> memref<?x?x?x{0}>}}
  : () -> ()
"""

_LAYER = """
func.func @{name}(%x: tensor<?x?x{0}>, %w: tensor<?x?x{0}>, %b: tensor<?x{2}>) -> tensor<?x?x{2}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?x{0}>
  %k = tensor.dim %x, %c1 : tensor<?x?x{0}>
  %n = tensor.dim %w, %c0 : tensor<?x?x{0}>
  %et = tensor.empty(%k, %n) : tensor<?x?x{0}>
  %t = linalg.transpose ins(%w : tensor<?x?x{0}>) outs(%et : tensor<?x?x{0}>) permutation = [1, 0]
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.matmul ins(%x, %t : tensor<?x?x{0}>, tensor<?x?x{0}>)
                     outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e2 = tensor.empty(%m, %n) : tensor<?x?x{2}>
  %r = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>,
                                         affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}}
    ins(%y, %b : tensor<?x?xf32>, tensor<?x{2}>) outs(%e2 : tensor<?x?x{2}>) {{
  ^bb0(%a: f32, %c: {2}, %o: {2}):
    {extended}
    %s = arith.addf %a, {bias} : f32
    {1}
    {rounded}
    linalg.yield {yielded} : {2}
  }} -> tensor<?x?x{2}>
  return %r : tensor<?x?x{2}>
}}
"""
# Element types of the operands and of the result of layers.
LAYERS = [("f32", "f32"), ("f16", "f16"), ("f16", "f32"), ("bf16", "bf16"), ("bf16", "f32")]
ACTIVATIONS = {
    "plain": "",
    "relu": "%v = arith.maximumf %zero, %s : f32",
    "gelu_tanh": """
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %outer = arith.constant 0.7978845608 : f32
    %cubed = arith.constant 0.044715 : f32
    %s2 = arith.mulf %s, %s : f32
    %s3 = arith.mulf %s2, %s : f32
    %i0 = arith.mulf %s3, %cubed : f32
    %i1 = arith.addf %s, %i0 : f32
    %i2 = arith.mulf %i1, %outer : f32
    %i3 = math.tanh %i2 : f32
    %i4 = arith.addf %i3, %one : f32
    %i5 = arith.mulf %s, %half : f32
    %v = arith.mulf %i5, %i4 : f32""",
    # The library has no such: a kernel of hirc follows the product.
    "gelu_erf": """
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %i2 = arith.mulf %s, %root : f32
    %i3 = math.erf %i2 : f32
    %i4 = arith.addf %i3, %one : f32
    %i5 = arith.mulf %s, %half : f32
    %v = arith.mulf %i5, %i4 : f32""",
}


def layer(element: str, activation: str, result: str) -> str:
    """A function of a transposed weight, a bias, an activation and a rounding."""
    value = "%v" if ACTIVATIONS[activation] else "%s"
    is_wide = result == "f32"
    return _LAYER.format(
        element,
        ACTIVATIONS[activation],
        result,
        name=activation,
        extended="" if is_wide else f"%wide = arith.extf %c : {result} to f32",
        bias="%c" if is_wide else "%wide",
        rounded="" if is_wide else f"%q = arith.truncf {value} : f32 to {result}",
        yielded=value if is_wide else "%q",
    )

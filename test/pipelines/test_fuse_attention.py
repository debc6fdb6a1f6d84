"""What fuse-attention makes one operation, and what differs a little and so is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.tools.hirc_opt import main

_ATTENTION = """
#q = affine_map<(b, i, j, k) -> (b, i, k)>
#k = affine_map<(b, i, j, k) -> (b, j, k)>
#s = affine_map<(b, i, j, k) -> (b, i, j)>
#w = affine_map<(b, i, n, j) -> (b, i, j)>
#v = affine_map<(b, i, n, j) -> (b, j, n)>
#y = affine_map<(b, i, n, j) -> (b, i, n)>
#p = affine_map<(b, i, j) -> (b, i, j)>
func.func @main(%q: tensor<2x8x16xbf16>, %k: tensor<2x8x16xbf16>, %v: tensor<2x8x16xbf16>)
    -> (tensor<2x8x16xbf16>, tensor<2x8x8xbf16>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %no_scores = tensor.empty() : tensor<2x8x8xf32>
  %no_weights = tensor.empty() : tensor<2x8x8xbf16>
  %none = tensor.empty() : tensor<2x8x16xbf16>
  %s = linalg.generic {indexing_maps = [#q, #k, #s],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"], hir.collective}
      ins(%q, %k : tensor<2x8x16xbf16>, tensor<2x8x16xbf16>) outs(%no_scores : tensor<2x8x8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %t = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    linalg.yield %t : f32
  } -> tensor<2x8x8xf32>
  %w = linalg.generic {indexing_maps = [#p, #p],
      iterator_types = ["parallel", "parallel", "reduction"], hir.collective}
      ins(%s : tensor<2x8x8xf32>) outs(%no_weights : tensor<2x8x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %x = arith.mulf %a, %half : f32
    %m = "hir.reduce_loops"(%x) {kind = "maximumf", loops = array<i64: 2>} : (f32) -> f32
    %d = arith.subf %x, %m : f32
    %e = math.exp %d : f32
    %t = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %r = arith.divf %e, %t : f32
    %n = arith.truncf %r : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<2x8x8xbf16>
  %y = linalg.generic {indexing_maps = [#w, #v, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"], hir.collective}
      ins(%w, %v : tensor<2x8x8xbf16>, tensor<2x8x16xbf16>) outs(%none : tensor<2x8x16xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %t = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    %n = arith.truncf %t : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<2x8x16xbf16>
  return %y, %no_weights : tensor<2x8x16xbf16>, tensor<2x8x8xbf16>
}
"""
_Edits = tuple[tuple[str, str], ...]


def _loaded(place: str, size: str = "2x9x16", *, of: str = "k") -> _Edits:
    """Keys, or queries, are loaded at a place that an operand %row of each key or row has."""
    operands = "%q, %rows" if of == "k" else "%rows, %k"
    types = "tensor<2x8x16xbf16>, tensor<2x8xindex>"
    if of == "q":
        types = "tensor<2x8xindex>, tensor<2x8x16xbf16>"
    arguments = "%a: bf16, %row: index" if of == "k" else "%row: index, %b: bf16"
    element = "%b" if of == "k" else "%a"
    return (
        (f"%{of}: tensor<2x8x16xbf16>", f"%rows: tensor<2x8xindex>, %{of}: tensor<{size}xbf16>"),
        ("ins(%q, %k : tensor<2x8x16xbf16>, tensor<2x8x16xbf16>)", f"ins({operands} : {types})"),
        ("[#q, #k, #s]", "[#q, #r, #s]" if of == "k" else "[#r, #k, #s]"),
        (
            "#p = ",
            f"#r = affine_map<(b, i, j, k) -> (b, {'j' if of == 'k' else 'i'})>\n#p = ",
        ),
        (
            "(%a: bf16, %b: bf16, %o: f32):",
            f"({arguments}, %o: f32):\n%b0 = linalg.index 0 : index\n"
            "%k0 = linalg.index 3 : index\n%far = arith.addi %row, %k0 : index\n"
            f"{element} = tensor.extract %{of}[{place}] : tensor<{size}xbf16>",
        ),
    )


_ALIKE: dict[str, _Edits] = {
    "as it is": (),
    "the other factor first": (("%p = arith.mulf %wa, %wb", "%p = arith.mulf %wb, %wa"),),
    "a base for rows of -inf": (
        (
            "%d = arith.subf %x, %m : f32",
            "%c = arith.cmpf oeq, %m, %least : f32\n%z = arith.select %c, %zero, %m : f32\n"
            "%d = arith.subf %x, %z : f32",
        ),
    ),
    "lowered by the greatest before": (
        (
            "%d = arith.subf %x, %m : f32",
            "%x1 = arith.subf %x, %m : f32\n"
            '%m1 = "hir.reduce_loops"(%x1) {kind = "maximumf", loops = array<i64: 2>}'
            " : (f32) -> f32\n%d = arith.subf %x1, %m1 : f32",
        ),
    ),
    "a mask of places": (
        (
            "%x = arith.mulf %a, %half : f32",
            "%i = linalg.index 1 : index\n%j = linalg.index 2 : index\n"
            "%c = arith.cmpi ule, %j, %i : index\n%x = arith.select %c, %a, %least : f32",
        ),
    ),
    "queries are multiplied by a constant": (
        (
            "(%a: bf16, %b: bf16, %o: f32):\n    %wa = arith.extf %a : bf16 to f32",
            "(%a: bf16, %b: bf16, %o: f32):\n    %w0 = arith.extf %a : bf16 to f32\n"
            "%wa = arith.mulf %half, %w0 : f32",
        ),
    ),
    "keys that a table names": _loaded("%b0, %row, %k0"),
    "keys of another batch": _loaded("%row, %row, %k0", "9x9x16"),
    "keys and values are the same": (("ins(%w, %v :", "ins(%w, %k :"),),
}
_DIFFERENT: dict[str, _Edits] = {
    "powers of two": (("math.exp ", "math.exp2 "),),
    "another power": (("%e = math.exp %d", "%e = math.absf %d"),),
    "the least instead of the greatest": (('"maximumf"', '"minimumf"'),),
    "a greatest that drops nan": (('"maximumf"', '"maxnumf"'),),
    "the greatest of something else": (("(%x) {kind", "(%a) {kind"),),
    "lowered by something else before": (
        (
            "%d = arith.subf %x, %m : f32",
            "%x1 = arith.subf %m, %x : f32\n"
            '%m1 = "hir.reduce_loops"(%x1) {kind = "maximumf", loops = array<i64: 2>}'
            " : (f32) -> f32\n%d = arith.subf %x1, %m1 : f32",
        ),
    ),
    "nothing subtracted": (("%e = math.exp %d", "%e = math.exp %x"),),
    "0 for another base": (
        (
            "%d = arith.subf %x, %m : f32",
            "%c = arith.cmpf oeq, %m, %zero : f32\n%z = arith.select %c, %zero, %m : f32\n"
            "%d = arith.subf %x, %z : f32",
        ),
    ),
    "the product of the powers": (
        ('"hir.reduce_loops"(%e) {kind = "addf"', '"hir.reduce_loops"(%e) {kind = "mulf"'),
    ),
    "divided by what is of the row and more": (
        ("%r = arith.divf %e, %t", "%tx = arith.addf %t, %x : f32\n%r = arith.divf %e, %tx"),
    ),
    "weights that drop out": (
        ("%n = arith.truncf %r", "%kept = arith.mulf %r, %half : f32\n%n = arith.truncf %kept"),
    ),
    "along the rows": (
        ("#p = affine_map<(b, i, j) -> (b, i, j)>", "#p = affine_map<(b, i, j) -> (b, j, i)>"),
    ),
    "transposed weights": (("(b, i, n, j) -> (b, i, j)", "(b, i, n, j) -> (b, j, i)"),),
    "weights used elsewhere": (("return %y, %no_weights", "return %y, %w"),),
    "scores used elsewhere": (
        (
            "return %y, %no_weights",
            "%z = arith.truncf %s : tensor<2x8x8xf32> to tensor<2x8x8xbf16>\nreturn %y, %z",
        ),
    ),
    "no sum of products": (("%p = arith.mulf %wa, %wb", "%p = arith.addf %wa, %wb"),),
    "elements of keys that a table names": _loaded("%b0, %k0, %row", "2x16x9"),
    "keys of another depth": _loaded("%b0, %row, %far", "2x9x32"),
    "other keys for each depth": _loaded("%b0, %far, %k0", "2x25x16"),
    "queries that a table names": _loaded("%b0, %row, %k0", of="q"),
    "a value that depends on the depth": (
        ("(b, i, j, k) -> (b, j, k)", "(b, i, j, k) -> (b, i, k)"),
    ),
}


def _fused(edits: _Edits, tmp_path: Path, chips: str = "sm_90a") -> bool:
    found = _edited(edits, tmp_path, chips)
    assert found.count("linalg.generic") == (1 if '"reduction", "reduction"' in found else 3)
    return '"reduction", "reduction"' in found


def _edited(edits: _Edits, tmp_path: Path, chips: str = "sm_90a") -> str:
    text = _ATTENTION
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    source, result = tmp_path / "attention.mlir", tmp_path / "fused.mlir"
    source.write_text(text)
    pipeline = f"builtin.module(fuse-attention{{chips={chips}}})"
    assert main([str(source), "-p", pipeline, "-o", str(result)]) == 0
    return result.read_text()


@pytest.mark.parametrize("edits", _ALIKE.values(), ids=_ALIKE)
def test_is_attention(edits: _Edits, tmp_path: Path) -> None:
    assert _fused(edits, tmp_path)


@pytest.mark.parametrize("edits", _DIFFERENT.values(), ids=_DIFFERENT)
def test_is_something_else(edits: _Edits, tmp_path: Path) -> None:
    assert not _fused(edits, tmp_path)


_MASKED: _Edits = (
    (
        "  %w = linalg.generic {indexing_maps = [#p, #p],",
        """  %no_count = tensor.empty() : tensor<8xi64>
  %count = linalg.generic {indexing_maps = [#n], iterator_types = ["parallel"]}
      outs(%no_count : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    linalg.yield %c : i64
  } -> tensor<8xi64>
  %no_mask = tensor.empty() : tensor<8x8xi1>
  %mask = linalg.generic {indexing_maps = [#col, #row, #both],
      iterator_types = ["parallel", "parallel"]}
      ins(%count, %count : tensor<8xi64>, tensor<8xi64>) outs(%no_mask : tensor<8x8xi1>) {
  ^bb0(%a: i64, %b: i64, %o: i1):
    %c = arith.cmpi sle, %a, %b : i64
    linalg.yield %c : i1
  } -> tensor<8x8xi1>
  %w = linalg.generic {indexing_maps = [#p, #m, #p],""",
    ),
    (
        "ins(%s : tensor<2x8x8xf32>) outs(%no_weights : tensor<2x8x8xbf16>) {\n"
        "  ^bb0(%a: f32, %o: bf16):",
        "ins(%s, %mask : tensor<2x8x8xf32>, tensor<8x8xi1>)\n"
        "      outs(%no_weights : tensor<2x8x8xbf16>) {\n  ^bb0(%a: f32, %seen: i1, %o: bf16):",
    ),
    ("%x = arith.mulf %a, %half : f32", "%x = arith.select %seen, %a, %least : f32"),
    (
        "func.func @main(",
        "#n = affine_map<(i) -> (i)>\n#col = affine_map<(i, j) -> (j)>\n"
        "#row = affine_map<(i, j) -> (i)>\n"
        "#both = affine_map<(i, j) -> (i, j)>\n#m = affine_map<(b, i, j) -> (i, j)>\n"
        "func.func @main(",
    ),
)
_READS_NUMBERS: _Edits = (
    *_MASKED,
    ("%k: tensor<2x8x16xbf16>,", "%k: tensor<2x8x16xbf16>, %times: tensor<8xi64>,"),
    ("ins(%count, %count :", "ins(%times, %times :"),
)


def test_a_mask_of_numbers_is_part_of_it(tmp_path: Path) -> None:
    text = _edited(_MASKED, tmp_path)
    assert "arith.cmpi sle" in text[text.index('"reduction", "reduction"') :]


def test_a_mask_of_two_operands_is_read(tmp_path: Path) -> None:
    text = _edited(_READS_NUMBERS, tmp_path)
    assert "arith.cmpi sle" not in text[text.index('"reduction", "reduction"') :]


_COPIED_KEYS: _Edits = (
    (
        "  %s = linalg.generic {indexing_maps = [#q, #k, #s],",
        """  %no_turned = tensor.empty() : tensor<2x1x16x8xbf16>
  %turned = linalg.generic {indexing_maps = [#straight, #crossed],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x8x16xbf16>) outs(%no_turned : tensor<2x1x16x8xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<2x1x16x8xbf16>
  %keys = tensor.collapse_shape %turned [[0, 1], [2], [3]]
      : tensor<2x1x16x8xbf16> into tensor<2x16x8xbf16>
  %s = linalg.generic {indexing_maps = [#q, #t, #s],""",
    ),
    (
        "ins(%q, %k : tensor<2x8x16xbf16>, tensor<2x8x16xbf16>)",
        "ins(%q, %keys : tensor<2x8x16xbf16>, tensor<2x16x8xbf16>)",
    ),
    (
        "func.func @main(",
        "#straight = affine_map<(b, k, j) -> (b, j, k)>\n"
        "#crossed = affine_map<(b, k, j) -> (b, 0, k, j)>\n"
        "#t = affine_map<(b, i, j, k) -> (b, k, j)>\nfunc.func @main(",
    ),
)


def test_keys_are_read_behind_a_copy_with_a_dim_of_one(tmp_path: Path) -> None:
    text = _edited(_COPIED_KEYS, tmp_path)
    assert text.count("linalg.generic") == 1
    assert "%arg1" in text[text.index("linalg.generic") :]


def test_chips_without_a_kernel(tmp_path: Path) -> None:
    assert not _fused((), tmp_path, "sm_75")

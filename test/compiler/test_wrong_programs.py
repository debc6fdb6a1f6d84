"""Small changes of right programs compile, or are refused with a place: never an internal error."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from hirc.compiler.errors import HircError, InputError, Position, UnsupportedError
from hirc.compiler.options import Emit, Options
from hirc.compiler.source import Source
from hirc.compiler.target import Target
from hirc.compiler.timing import Timer
from hirc.compiler.unit import Unit
from support.environment import ROOT
from support.mutations import Mutant, generic_form, mutants

_CPU = Target.parse("cpu")
_TEST = ROOT / "test"
_RIGHT = (
    *sorted(_TEST.glob("dialects/hir/*.mlir")),
    *sorted(_TEST.glob("host_ir/programs/*.mlir")),
    *sorted(_TEST.glob("pipelines/passes/*tensor*.mlir")),
    *sorted(_TEST.glob("pipelines/host/*.mlir")),
    *sorted(_TEST.glob("pipelines/passes/hir_*.mlir")),
)
_LONGEST = 6000


def refusal(text: str) -> HircError | None:
    """What hirc says of a program up to the stage that makes kernels; None where it takes it."""
    options = Options(inputs=(), targets=(_CPU,), stop_after="schedules", emit=Emit.SHARED)
    try:
        Unit(Source("wrong.mlir", text.encode()), options, Timer()).lower()
    except HircError as error:
        return error
    return None


def verdict(text: str) -> str:
    """What is wrong with how a program is refused; nothing where all is right."""
    try:
        error = refusal(text)
    except Exception as failure:  # noqa: BLE001 - whatever is raised is what is wrong
        return f"{type(failure).__name__}: {failure}"
    if error is None:
        return ""
    if not isinstance(error, InputError | UnsupportedError):
        return f"{type(error).__name__}: {error.message}"
    position = error.position
    if position is None or not position.line or not position.column:
        return f"no line and column: {error.message}"
    return ""


def verdicts(texts: Sequence[str]) -> list[str]:
    """The verdicts of programs, in a process of their own: MLIR's parser dies of some."""
    found: list[str] = []
    while len(found) < len(texts):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                for text in texts[len(found) :]:
                    data = pickle.dumps(verdict(text))
                    pipe.write(struct.pack("I", len(data)) + data)
                    pipe.flush()
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            while size := pipe.read(4):
                found.append(pickle.loads(pipe.read(struct.unpack("I", size)[0])))
        if os.waitpid(child, 0)[1]:
            found.append("")  # Of the parser's end hirc's command says what there is to say.
    return found


def sampled(path: Path, random: Random, count: int) -> list[Mutant]:
    """Some changes of the right programs of a file."""
    found: list[Mutant] = []
    for part in path.read_text().split("// -----"):
        try:
            text = generic_form(part)
        except ValueError:
            continue
        if len(text) < _LONGEST:
            found += mutants(text)
    return random.sample(found, min(count, len(found)))


@pytest.mark.parametrize("seed", range(3))
def test_near_misses(seed: int) -> None:
    random = Random(seed)
    files = [path for path in _RIGHT if "_invalid" not in path.name]
    chosen = [each for path in random.sample(files, 6) for each in sampled(path, random, 10)]
    assert len(chosen) > 40
    for mutant, reason in zip(chosen, verdicts([each.text for each in chosen]), strict=True):
        assert not reason, f"{mutant.change}: {reason}\n{mutant.text}"


@pytest.mark.parametrize(
    ("inputs", "body", "message", "line"),
    [
        (
            "%x: tensor<4xf32>",
            "  %c9 = arith.constant 9 : index\n  %v = tensor.extract %x[%c9] : tensor<4xf32>\n"
            "  %y = tensor.splat %v : tensor<4xf32>",
            "index 9 is out of range for axis 0",
            3,
        ),
        (
            '%x: tensor<4xf32> {hir.name = "a"}, %z: tensor<4xf32> {hir.name = "a"}',
            "  %y = math.exp %x : tensor<4xf32>",
            "inputs 0 and 1 are both called 'a'",
            1,
        ),
        (
            "%x: tensor<4xf32> {hir.name = 3 : i64}",
            "  %y = math.exp %x : tensor<4xf32>",
            "'name' is a string that is not empty",
            1,
        ),
        (
            "%x: tensor<4xf32>",
            "  %c0 = arith.constant 0 : index\n  %c4 = arith.constant 4 : index\n"
            "  %y = scf.for %i = %c0 to %c4 step %c0 iter_args(%a = %x) -> tensor<4xf32> {\n"
            "    %b = math.exp %a : tensor<4xf32>\n    scf.yield %b : tensor<4xf32>\n  }",
            "the step of hir.for is positive, not 0",
            4,
        ),
        (
            "%x: tensor<4xf32> {foo.bar = array<i128: 3>}",
            "  %y = math.exp %x : tensor<4xf32>",
            "an attribute is an array of i128",
            1,
        ),
    ],
)
def test_functions_that_are_no_programs(inputs: str, body: str, message: str, line: int) -> None:
    end = "  return %y : tensor<4xf32>\n}"
    error = refusal(f"func.func @main({inputs}) -> tensor<4xf32> {{\n{body}\n{end}\n")
    assert isinstance(error, InputError | UnsupportedError)
    assert message in error.message
    assert error.position is not None
    assert (error.position.line, error.position.column > 0) == (line, True)


def program(body: str, types: str = "tensor<?x4xf32>") -> str:
    return f"func.func @main(%x: {types}) -> {types} {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        *(
            (
                program(
                    "  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i, "
                    f"{place})>, affine_map<(i) -> (i, 0)>], iterator_types = ['parallel']}}\n"
                    "      ins(%x : tensor<?x4xf32>) outs(%x : tensor<?x4xf32>) {\n"
                    "  ^bb0(%a: f32, %o: f32):\n    linalg.yield %a : f32\n"
                    "  } -> tensor<?x4xf32>\n  return %y : tensor<?x4xf32>".replace("'", '"')
                ),
                f"the indexing map of operand 0 asks for place {place} of dim 1, which is beyond",
                2,
            )
            for place in (4, -1)
        ),
        *(
            (
                "gpu.module @m {\n"
                f"  llvm.mlir.global external @v() {{addr_space = 1 : i32}} : {kind}\n}}",
                "no machine addresses 2^56 or more",
                2,
            )
            for kind in (f"vector<{2**63 - 1}xf32>", f"!llvm.array<{2**54} x array<4 x i16>>")
        ),
        *(
            (
                program(
                    f"  %y = tensor.collapse_shape %x [[{first}, 1]] : tensor<?x4xf32> into "
                    "tensor<?xf32>\n  return %x : tensor<?x4xf32>"
                ),
                "the groups of 'reassociation' are not of the dims 0 to 1 in order",
                2,
            )
            for first in (-(2**63), 2**32)
        ),
        (
            program(
                "  %c2 = arith.constant 2 : index\n  %n = tensor.dim %x, %c2 : tensor<?x4xf32>\n"
                "  %e = tensor.empty(%n) : tensor<?x4xf32>\n  return %e : tensor<?x4xf32>"
            ),
            "tensor.dim of dim 2: tensor<?x4xf32> has 2 dims",
            3,
        ),
        (
            program(
                "  %c1 = arith.constant 1 : index\n  %c2 = arith.addi %c1, %c1 : index\n"
                "  %n = tensor.dim %x, %c2 : tensor<?x4xf32>\n"
                "  %e = tensor.empty(%n) : tensor<?x4xf32>\n"
                "  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)"
                " -> tensor<?x4xf32>\n  return %y : tensor<?x4xf32>"
            ),
            "tensor.dim of dim 2: tensor<?x4xf32> has 2 dims",
            4,
        ),
        (
            program(
                "  return %x : tensor<9223372036854775807x4xf32>",
                "tensor<9223372036854775807x4xf32>",
            ),
            "no machine addresses 2^56 or more",
            1,
        ),
        (
            "memref.global constant @c : memref<9223372036854775807xi32> = dense<3>",
            "no machine addresses 2^56 or more",
            1,
        ),
        (
            "memref.global constant @c : memref<4294967296xi8> = dense<3>",
            "2^32 values or more, which LLVM does not hold",
            1,
        ),
        (
            "func.func @main() {\n  %c = arith.constant 1 : index\n"
            "  %d = gpu.alloc () : memref<0x4611686018427387904x2xf64>\n  return\n}",
            "no machine addresses 2^56 or more",
            3,
        ),
        (
            "func.func @main() {\n  return\n}\nfunc.func @start(%x: none) {\n  return\n}",
            "nothing holds a value of type none",
            4,
        ),
        (
            'llvm.func @f()\n"offload.entry"() {device_name = "k", host = @f, kind = "kernel", '
            'size = 0 : i64} : () -> ()\n"offload.entry"() {device_name = "v", host = @v, '
            'kind = "global", size = 4 : i64} : () -> ()',
            "offload.entry names @v, which the module has no symbol of",
            3,
        ),
        (
            "// hir.stream is named here, and here: \n"
            'module attributes {a = "hir.wait"} {\n  hir.output\n}',
            "hir.output is written in MLIR's generic form",
            3,
        ),
    ],
)
def test_wrong_programs(text: str, message: str, line: int) -> None:
    error = refusal(text)
    assert isinstance(error, InputError)
    assert message in error.message
    assert error.position is not None
    assert (error.position.line, error.position.column > 0) == (line, True)


_GENERIC = """linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>],
      iterator_types = ["KIND"]} ins(%x : KINDOF<8xf32>) outs(%y : KINDOF<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    OPERATION
    linalg.yield %a : f32
  }"""
_SCAN = '%s = "hir.scan_loop"(%a) {kind = "addf", loop = 0 : i64} : (f32) -> f32'
_NEGATIVE = '%n = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>'
_MODULE = """module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel { gpu.return }
    INSIDE
  }
  OUTSIDE
}
"""
_KERNEL = '"hir.kernel"() {sym_name = "k", function = @m::@k} : () -> ()'
_LAUNCH = """%c = arith.constant 1 : index
  "hir.launch"(%c, %c, %c, %c, %c, %c, %c) ({
  ^bb0:
  }) {kernel = @m::@k} : (index, index, index, index, index, index, index) -> ()"""


def generic(operation: str, *, kind: str, of: str) -> str:
    """A linalg.generic over %x and %y with an operation in its region."""
    text = _GENERIC.replace("KINDOF", of).replace("KIND", kind)
    return text.replace("OPERATION", operation)


def function(body: str) -> str:
    """A function on buffers, which no host program is made of."""
    return f"func.func @other(%x: memref<8xf32>, %y: memref<8xf32>) {{\n  {body}\n  return\n}}\n"


def host_program(body: str) -> str:
    return f""""hir.program"() ({{
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  {body}
  "hir.output"(%y) : (memref<8xf32>) -> ()
}}) {{sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> memref<8xf32>}}
  : () -> ()
"""


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (function(_NEGATIVE), "hir.unary stands in a func.func, where nothing compiles it", 2),
        (
            function(generic(_SCAN, kind="reduction", of="memref")),
            "hir.scan_loop stands in a func.func, where nothing compiles it",
            5,
        ),
        (
            function(
                "gpu.launch blocks(%bx, %by, %bz) in (%gx = %c, %gy = %c, %gz = %c)\n"
                "    threads(%tx, %ty, %tz) in (%sx = %c, %sy = %c, %sz = %c) {\n  "
                f"{_NEGATIVE}\n  gpu.terminator\n  }}"
            ).replace("{\n  gpu", "{\n  %c = arith.constant 1 : index\n  gpu", 1),
            "hir.unary stands in a gpu.launch, where nothing compiles it",
            5,
        ),
        (
            _MODULE.replace("INSIDE", "").replace("OUTSIDE", function(_LAUNCH)),
            "hir.launch stands in a func.func, where nothing compiles it",
            8,
        ),
        (
            _MODULE.replace("INSIDE", _KERNEL).replace("OUTSIDE", ""),
            "hir.kernel stands in a builtin.module, not in gpu.module",
            4,
        ),
        (
            host_program(generic(_NEGATIVE, kind="parallel", of="memref")),
            "hir.unary stands in the region of a linalg.generic, which computes single elements",
            6,
        ),
        (
            host_program(
                generic(
                    "linalg.fill ins(%a : f32) outs(%y : memref<8xf32>)",
                    kind="parallel",
                    of="memref",
                )
            ),
            "linalg.fill stands in the region of a linalg.generic, which computes single elements",
            6,
        ),
    ],
)
def test_operations_where_nothing_compiles_them(text: str, message: str, line: int) -> None:
    error = refusal(text)
    assert isinstance(error, InputError), error
    assert message in error.message
    assert error.position is not None
    assert (error.position.line, error.position.column > 0) == (line, True)


@pytest.mark.parametrize(
    "text",
    [
        # Nobody launches it.
        _MODULE.replace("INSIDE", "").replace("OUTSIDE", _KERNEL),
        host_program(generic(_SCAN, kind="reduction", of="memref").replace("%a : f32", "%s : f32")),
        host_program(_NEGATIVE),
        # What a kernel of a program is not made of becomes loops.
        function(
            generic(
                "linalg.fill ins(%a : f32) outs(%y : memref<8xf32>)", kind="parallel", of="memref"
            )
        ),
    ],
)
def test_operations_where_they_may_stand(text: str) -> None:
    options = Options(inputs=(), targets=(_CPU,), stop_after="host", emit=Emit.SHARED)
    Unit(Source("right.mlir", text.encode()), options, Timer()).lower()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('func.func @"\\FF"() {\n  return\n}', 1),
        ('func.func @f() attributes {"\\FF.a" = 1} {\n  return\n}', 1),
        ('func.func @f(%x: tensor<4xf32> {hir.name = "\\FF"}) {\n  return\n}', 1),
        (host_program(_NEGATIVE).replace("(%y) :", '(%y) {name = "a\\FF"} :'), 4),
        (
            host_program(_NEGATIVE).replace(
                '"main"', '"main", inputs = [{name = "x"}, {name = "\\FF"}]'
            ),
            5,
        ),
    ],
)
def test_names_that_are_not_utf_8(text: str, line: int) -> None:
    error = refusal(text)
    assert isinstance(error, InputError), error
    assert error.message == "a name is not UTF-8"
    assert error.position is not None
    assert (error.position.line, error.position.column > 0) == (line, True)


_POINTERS = """gpu.module @m {{
  llvm.func @f(%p: !llvm.ptr{attribute}, %n: i64) -> !llvm.ptr {{
    {line}
    llvm.return %p : !llvm.ptr
  }}
}}
"""
_POINTER_LINES = (
    "%0 = llvm.alloca %n x {} : (i64) -> !llvm.ptr",
    "%0 = llvm.getelementptr %p[%n] : (!llvm.ptr, i64) -> !llvm.ptr, {}",
)


@pytest.mark.parametrize(
    "kind",
    [
        "index",
        "si32",
        "memref<2xf32>",
        "complex<f32>",
        "f8E4M3FN",
        "vector<2x2xf32>",
        "!llvm.void",
        "!llvm.func<void ()>",
        "!llvm.array<2 x index>",
        '!llvm.struct<"s", opaque>',
    ],
)
def test_pointers_to_what_has_no_size(kind: str) -> None:
    """Upstream's translation to LLVM IR has no type for these, and goes on with none."""
    for line in _POINTER_LINES:
        error = refusal(_POINTERS.format(attribute="", line=line.format(kind)))
        assert isinstance(error, InputError), error
        assert f"has a pointer to {kind}, which is no LLVM type with a size" in error.message
        assert error.position is not None
        assert error.position.line == 3
    for name in ("byval", "byref", "sret", "inalloca"):
        error = refusal(_POINTERS.format(attribute=f" {{llvm.{name} = {kind}}}", line=""))
        assert isinstance(error, InputError), error


@pytest.mark.parametrize(
    "kind",
    [
        "i3",
        "bf16",
        "!llvm.ptr<3>",
        "vector<4xf32>",
        "vector<2x!llvm.ptr>",
        "!llvm.array<2 x array<3 x vector<2xf16>>>",
        '!llvm.struct<"index opaque", packed (i8, struct<(ptr<1>, f64)>)>',
    ],
)
def test_pointers_to_what_has_a_size(kind: str) -> None:
    for line in _POINTER_LINES:
        assert refusal(_POINTERS.format(attribute="", line=line.format(kind))) is None
    assert refusal(_POINTERS.format(attribute=f" {{llvm.byref = {kind}}}", line="")) is None


@pytest.mark.parametrize(
    "line",
    [
        "%0 = affine.apply affine_map<(a) -> (a {} 0)>(%i)",
        "%0 = affine.min affine_map<(a) -> (3, a + (a + 1) {} -4)>(%i)",
        "affine.for %k = 0 to affine_map<(a) -> (a {} 0)>(%i) {{ }}",
        "affine.if affine_set<(a) : (a {} -1 == 0)>(%i) {{ }}",
        "%0 = affine.load %m[%i {} 0] : memref<?xf32>",
        "%0 = memref.alloc() : memref<8xf32, affine_map<(a) -> (a {} 0)>>",
        "memref.copy %m, %m {{a = [affine_map<(a) -> (a {} 0)>]}} : memref<?xf32> to memref<?xf32>",
    ],
)
def test_affine_expressions_that_divide_by_too_little(line: str) -> None:
    program = "func.func @f(%i: index, %m: memref<?xf32>) {{\n  {}\n  return\n}}"
    for word in ("floordiv", "ceildiv", "mod"):
        error = refusal(program.format(line.format(word)))
        assert isinstance(error, InputError), error
        assert "divides by a number that is not positive" in error.message
        assert error.position is not None
        assert error.position.line == 2
        right = program.format(line.format(f"{word} 2 +"))
        assert "divides" not in str(refusal(right))


_LAYOUT = """\
module attributes {hirc.weights = {bytes = 256 : i64, file = "", header =
    "{\\"w\\":{\\"dtype\\":\\"F32\\",\\"shape\\":[4],\\"data_offsets\\":[0,16]}}"}} {
  func.func @f(%x: tensor<4xf32>, %w: tensor<4xf32> {hirc.weight = "w"}) -> tensor<4xf32> {
    %0 = arith.addf %x, %w : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bytes = 256 : i64, ", ""),
        ("bytes = 256 : i64", 'bytes = "256"'),
        ("bytes = 256", "bytes = 12"),
        ("file = ", "filefile = "),
        ("header =", "head ="),
        (r"{\"w\":", r"[\"w\","),
        (r"\"dtype\":", r"\"type\":"),
        (r"\"F32\"", r"\"F33\""),
        ("[4]", "4"),
        ("[4]", r"[\"4\"]"),
        ("[4]", "[-4]"),
        ("[0,16]", "[0]"),
        ("[0,16]", "[-1,15]"),
        ("[0,16]", "[16,0]"),
    ],
)
def test_damaged_layouts_of_weights(before: str, after: str) -> None:
    assert refusal(_LAYOUT) is None
    assert before in _LAYOUT
    error = refusal(_LAYOUT.replace(before, after, 1))
    assert isinstance(error, InputError), error
    assert "hirc.weights of the module is not as hirc writes it: " in error.message
    assert error.position is not None
    assert error.position.line == 1


@pytest.mark.parametrize(
    "calling",
    [
        "3",
        '"no JSON"',
        '"[]"',
        '"{}"',
        r'"{\22inputs\22: {}, \22parameters\22: [1]}"',
        r'"{\22inputs\22: {}, \22parameters\22: [{\22name\22: \22x\22}]}"',
        r'"{\22inputs\22: [], \22parameters\22: []}"',
    ],
)
def test_damaged_descriptions_of_calls(calling: str) -> None:
    text = (
        'func.func @f(%x: memref<4xf32>, %s: memref<4xf32> {{hirc.state = "s"}})\n'
        "    attributes {{hir.calling = {}}} {{\n  return\n}}"
    )
    error = refusal(text.format(calling))
    assert isinstance(error, InputError), error
    assert error.message == "hir.calling of 'func.func' is not as hirc writes it"
    assert error.position is not None
    assert error.position.line == 1
    right = r'"{\22inputs\22: {}, \22parameters\22: []}"'
    assert "hir.calling" not in str(refusal(text.format(right)))


def test_bytes_that_are_no_names_are_taken() -> None:
    """So are locations: the files of a program that was translated have any name."""
    assert (
        refusal(
            'llvm.mlir.global internal constant @s("\\FF\\00")\n'
            'func.func @"\\C3\\A4"() {\n  return loc("\\FFa":1:2)\n}\n'
        )
        is None
    )
    error = refusal(function(f'{_NEGATIVE} loc("a\\FF\\C3\\A4\\"\\\\":7:8)'))
    assert error is not None
    assert error.position == Position('a\ufffdä"\\', 7, 8)


def test_what_is_both_weight_and_state() -> None:
    error = refusal(
        'func.func @main(%w: tensor<4xf32> {hirc.weight = "w", hirc.state = "w"}) {\n  return\n}\n'
    )
    assert isinstance(error, InputError), error
    assert error.position is not None
    assert error.position.line == 1


def test_dims_that_are_there_are_taken() -> None:
    body = """  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>"""
    assert refusal(program(body)) is None

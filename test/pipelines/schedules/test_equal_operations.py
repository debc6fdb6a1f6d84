"""Equal operations are scheduled once; near misses are scheduled as they are alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hirc.dialects import hir
from hirc.dialects.mlir import context, ir
from hirc.pipelines.passes.hir_schedule_kernels import HirScheduleKernels
from hirc.pipelines.schedules.kernels import Kernels
from hirc.pipelines.walking import operations_where
from hirc.tools.bench_scale_programs import (
    functions,
    products,
    recurrent,
    streams,
)
from hirc.tools.hirc import main
from hirc.tools.hirc_opt import main as opt

_VECTOR = "memref<?xf32>"
_MAP = "affine_map<(d) -> (d)>"


def _generic(
    inputs: str,
    output: str = "%z",
    *,
    kind: str = _VECTOR,
    out: str = "",
    body: str = "%r = arith.addf %a, %b : f32",
    map_: str = _MAP,
    attributes: str = "",
    element: str = "f32",
) -> str:
    return f"""linalg.generic {{indexing_maps = [{map_}, {map_}, {_MAP}],
      iterator_types = ["parallel"]{attributes}}}
      ins({inputs} : {kind}, {kind}) outs({output} : {out or kind}) {{
  ^bb0(%a: {element}, %b: {element}, %o: {element}):
    {body}
    linalg.yield %r : {element}
  }}"""


def _allocated(kind: str = "memref<4096xf32>", attributes: str = "") -> str:
    return f'%m = "hir.allocate"() {{{attributes}}} : () -> {kind}\n'


_KNOWN = "memref<4096xf32>"
_SHIFTED = "memref<4096xf32, strided<[1], offset: 1>>"
_CAPTURING = "%t = arith.addf %a, %k : f32\n    %r = arith.addf %t, %b : f32"
# Programs of one operation each; the arguments are the same in all.
_PROGRAMS = {
    "open": _generic("%x, %y"),
    "same value twice": _generic("%x, %x"),
    "in place": _generic("%x, %y", "%x"),
    "known size": _generic("%c, %d", "%e", kind=_KNOWN),
    "mixed sizes": _generic("%c, %d", kind=_KNOWN, out=_VECTOR),
    "offset": _generic("%c, %d", "%s", kind=_KNOWN, out=_SHIFTED),
    "allocated": _allocated() + _generic("%c, %d", "%m", kind=_KNOWN),
    "handed in": _allocated(attributes="output = 0 : i64")
    + _generic("%c, %d", "%m", kind=_KNOWN)
    + f'\n"hir.output"(%m) {{name = "y"}} : ({_KNOWN}) -> ()',
    "allocated input": _allocated() + _generic("%m, %d", "%e", kind=_KNOWN),
    "reused": _allocated()
    + f'%w = "hir.reuse"(%m) : ({_KNOWN}) -> {_KNOWN}\n'
    + _generic("%c, %d", "%w", kind=_KNOWN),
    "other element": _generic(
        "%h, %h",
        "%h",
        kind="memref<?xf64>",
        element="f64",
        body="%r = arith.addf %a, %b : f64",
    ),
    "other operation": _generic("%x, %y", body="%r = arith.subf %a, %b : f32"),
    "other order": _generic("%x, %y", body="%r = arith.addf %b, %a : f32"),
    "flags": _generic("%x, %y", body="%r = arith.addf %a, %b fastmath<contract> : f32"),
    "from outside": _generic("%x, %y", body=_CAPTURING),
    "computed outside": "%k = arith.sitofp %i : i32 to f32\n" + _generic("%x, %y", body=_CAPTURING),
    "constant outside": "%k = arith.constant 1.0 : f32\n" + _generic("%x, %y", body=_CAPTURING),
    "other constant": "%k = arith.constant 2.0 : f32\n" + _generic("%x, %y", body=_CAPTURING),
    "other map": _generic("%x, %y", map_="affine_map<(d) -> (d + 1)>", kind=_VECTOR),
    "general": _generic("%x, %y", attributes=", hir.general_schedule"),
}
_ARGUMENTS = (
    f"%x: {_VECTOR}, %y: {_VECTOR}, %z: {_VECTOR}, %c: {_KNOWN}, %d: {_KNOWN}, %e: {_KNOWN}, "
    f"%s: {_SHIFTED}, %h: memref<?xf64>, %i: i32"
)
_TYPES = re.sub(r"%\w: ", "", _ARGUMENTS)


def _program(name: str, text: str) -> str:
    is_given = "%k" in text and "%k =" not in text
    arguments = f"{_ARGUMENTS}, %k: f32" if is_given else _ARGUMENTS
    types = f"{_TYPES}, f32" if is_given else _TYPES
    result = _KNOWN if "hir.output" in text else "()"
    return f""""hir.program"() ({{
^bb0({arguments}):
  {text}
}}) {{sym_name = "{name}", function_type = ({types}) -> {result}}} : () -> ()
"""


def _scheduled(text: str, chips: str, folder: Path) -> str:
    source, result = folder / "in.mlir", folder / "out.mlir"
    source.write_text(text)
    pass_ = f"hir-schedule-kernels{{chips={chips}}}"
    assert opt([str(source), "-p", pass_, "-o", str(result)]) == 0
    return result.read_text()


def _programs(text: str) -> list[str]:
    """The programs, with the texts of launchers and kernels in the places of their names."""
    kernels = dict(re.findall(r"(?ms)^    gpu\.func @(\w+)(.*?)^    }$", text))
    found = re.findall(r'(?ms)^  "hir\.program".*?^  }\) ', text)
    kernel, launcher = re.compile(r"@kernels::@(\w+)"), re.compile(r"launcher = @(\w+)")
    launchers = {
        name: kernel.sub(lambda match: kernels[match[1]], body)
        for body, name in re.findall(
            r'(?ms)^  "hir\.launcher"(.*?)^  }\) {sym_name = "(\w+)"}', text
        )
    }
    assert all(map(launcher.search, found))
    return [launcher.sub(lambda match: launchers[match[1]], program) for program in found]


@pytest.mark.parametrize("chips", ["sm_90a", "sm_80", "sm_90a tuned=false"])
def test_near_misses_are_scheduled_as_alone(chips: str, tmp_path: Path) -> None:
    alone = {
        name: _programs(_scheduled(_program("alone", text), chips, tmp_path))
        for name, text in _PROGRAMS.items()
    }
    names = [*_PROGRAMS, *reversed(_PROGRAMS)]
    text = "".join(_program(f"p{n}", _PROGRAMS[name]) for n, name in enumerate(names))
    together = _programs(_scheduled(text, chips, tmp_path))
    for name, program in zip(names, together, strict=True):
        assert [program] == alone[name], name


def _compile(text: str, folder: Path) -> str:
    source, result = folder / "in.mlir", folder / "out.mlir"
    source.write_text(text)
    options = ["--offload-arch=cpu", "--stop-after=schedules", "-o", str(result)]
    assert main([str(source), *options]) == 0
    return result.read_text()


@pytest.mark.parametrize("kind", [functions, recurrent, products, streams])
def test_equal_operations_are_emitted_once(
    kind: Callable[[int], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of kernels emitted does not grow with the number of operations."""
    build, emitted = Kernels.build, [0]

    def counted(*arguments: Any, **options: Any) -> ir.SymbolRefAttr:
        emitted[0] += 1
        return build(*arguments, **options)

    monkeypatch.setattr(Kernels, "build", counted)
    counts: list[int] = []
    runs: list[int] = []
    for count in (30, 60):
        emitted[0] = 0
        runs.append(_compile(kind(count), tmp_path).count('"hir.run_launcher"'))
        assert emitted[0] > 0
        counts.append(emitted[0])
    assert runs[0] < runs[1]
    assert counts[0] == counts[1]


_CHECKED = _generic(
    "%x, %y",
    body="""%r = arith.addf %a, %b : f32
    %zero = arith.constant 0.0 : f32
    %right = arith.cmpf oge, %a, %zero : f32
    cf.assert %right, "negative" """,
)


def test_checks_of_other_lines_are_other_kernels(tmp_path: Path) -> None:
    text = _scheduled(_program("one", _CHECKED) + _program("other", _CHECKED), "sm_90a", tmp_path)
    names = re.findall(r"kernel = @kernels::@(\w+)", text)
    half = len(names) // 2
    assert names
    assert not set(names[:half]) & set(names[half:])


def test_launches_are_at_their_operations(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(_program("one", _generic("%x, %y")) + _program("other", _generic("%x, %y")))
    with context() as inner, ir.Location.unknown(inner):
        hir.load(inner)
        module = ir.Module.parseFile(str(source))
        HirScheduleKernels(chips="sm_90a").run(module.operation)
        runs = operations_where(module.operation, lambda op: op.name == "hir.run_launcher")
        lines = [ir.FileLineColLoc(run.location).start_line for run in runs]
    texts = source.read_text().splitlines()
    assert lines == [n for n, line in enumerate(texts, 1) if "linalg.generic" in line]

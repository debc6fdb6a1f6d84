"""The textual form of pipelines, and the stages made of them."""

from __future__ import annotations

from typing import ClassVar

import pytest

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.dialects.records import dataclass
from hirc.pipelines.gpu_program import GpuProgramOptions, gpu_program_stages
from hirc.pipelines.pass_base import Pass, PassFailure, find_pass, make_pass, pass_names
from hirc.pipelines.pipeline import (
    PipelineSyntaxError,
    Stage,
    Step,
    foreign_op,
    parse_pipeline,
    run_steps,
    set_aside,
)


def _texts(pipeline: str) -> list[str]:
    return [str(step) for step in parse_pipeline(pipeline)]


@pytest.mark.parametrize(
    ("pipeline", "steps"),
    [
        ("", []),
        ("cse", ["cse"]),
        (" cse , canonicalize ", ["cse", "canonicalize"]),
        ("builtin.module(cse)", ["cse"]),
        (
            "cse,gpu.module(cse,llvm.func(dce))",
            ["cse", "gpu.module(cse)", "gpu.module(llvm.func(dce))"],
        ),
        ("a{x=1 y=2},b", ["a{x=1 y=2}", "b"]),
        ("a{x={1,2} y=(3,4)},b", ["a{x={1,2} y=(3,4)}", "b"]),
        ("// first\ncse\n// second\ncanonicalize", ["cse", "canonicalize"]),
        ("// first\ncse,\n// second\ncanonicalize\n// end", ["cse", "canonicalize"]),
        (
            "gpu.module(\n// inside\ncse\n// between\ndce\n// end\n)",
            ["gpu.module(cse)", "gpu.module(dce)"],
        ),
        ("builtin.module(// first\ncse\n// second\ndce)", ["cse", "dce"]),
    ],
)
def test_parsing(pipeline: str, steps: list[str]) -> None:
    assert _texts(pipeline) == steps


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("a(b", "a bracket is not closed in pipeline 'a\\(b'"),
        ("a)b", "unbalanced '\\)' in pipeline"),
        ("a(b)c", "text after '\\)' in pipeline element"),
        ("a{b}c", "text after '}' in pipeline element"),
        ("cse,,canonicalize", "a pass has no name in pipeline element ''"),
        ("name-device-symbols{nothing=1}", "has no option 'nothing' \\(it has: unit\\)"),
        ("expand-gpu-memset{x=1}", "has no option 'x' \\(it has: none\\)"),
        ("convert-gpu-host-to-cuda{bare-pointers=maybe}", "takes true or false: 'maybe'"),
        ("convert-gpu-host-to-cuda{max-shared-bytes=many}", "takes a whole number, not 'many'"),
    ],
)
def test_malformed(pipeline: str, message: str) -> None:
    with pytest.raises(PipelineSyntaxError, match=message):
        parse_pipeline(pipeline)


@pytest.mark.parametrize("pipeline", ["no-such-pass", "canonicalize{max-iterations=many}"])
def test_upstream_passes_are_checked_with_a_context(pipeline: str) -> None:
    session = Session()
    with pytest.raises(PipelineSyntaxError, match="in pipeline element '"):
        parse_pipeline(pipeline, session.context)


def test_options_of_our_passes_have_defaults_in_the_text() -> None:
    assert _texts("name-device-symbols") == ["name-device-symbols{unit=}"]
    assert _texts("convert-gpu-host-to-cuda{bare-pointers}") == [
        "convert-gpu-host-to-cuda{bare-pointers=true max-shared-bytes=0}"
    ]


def test_every_pass_says_what_it_does_and_round_trips() -> None:
    for name in pass_names():
        cls = find_pass(name)
        assert cls is not None
        assert (cls.__doc__ or "").strip()
        made = make_pass(name, {})
        (step,) = parse_pipeline(str(made))
        assert step.own == made


@pytest.mark.parametrize(
    "options",
    [
        GpuProgramOptions(),
        GpuProgramOptions(unit="ab", entry="start", bare_pointers=True, debug=True, fast_math=True),
        GpuProgramOptions(executable=False),
    ],
)
def test_program_stages(options: GpuProgramOptions) -> None:
    """Stage names are stable; what a stage prints is what it runs, and upstream knows it all."""
    stages = gpu_program_stages(options)
    assert [item.name for item in stages] == [
        "kernels",
        "entries",
        "runtime-calls",
        "device",
        "host",
    ]
    session = Session()
    for item in stages:
        assert tuple(parse_pipeline(str(item), session.context)) == item.steps
    entry = [step.text for step in stages[0].steps if step.pass_name == "add-entry-point"]
    assert entry == (
        [f"add-entry-point{{entry={options.entry} required=true}}"] if options.executable else []
    )


@dataclass(frozen=True)
class _Count(Pass):
    """Counts what it is run on."""

    name: ClassVar[str] = "count"
    seen: ClassVar[list[str]] = []

    def run(self, op: ir.Operation) -> None:
        self.seen.append(op.name)


def test_steps_run_on_their_anchors_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hirc.pipelines.pass_base._registry", {"count": _Count})
    session = Session()
    module = ir.Module.parse("gpu.module @a {}\ngpu.module @b {}", session.context).operation
    calls: list[str] = []
    run_steps(
        module,
        parse_pipeline("count,gpu.module(count),cse"),
        before=lambda step: calls.append(f"before {step}"),
        after=lambda step: calls.append(f"after {step}"),
    )
    assert _Count.seen == ["builtin.module", "gpu.module", "gpu.module"]
    assert calls[:3] == ["before count", "after count", "before gpu.module(count)"]


def test_a_pass_that_failed_runs_again_on_another_module() -> None:
    context = Session().context
    steps = parse_pipeline("one-shot-bufferize")
    good = "func.func @f() { %t = arith.constant dense<0.0> : tensor<4xf32> return }"
    bad = "func.func @f(%a: memref<4xf32>) { "
    bad += "%t = bufferization.to_tensor %a : memref<4xf32> to tensor<4xf32> "
    bad += "%c = bufferization.alloc_tensor() copy(%t) : tensor<4xf32> return }"
    run_steps(ir.Module.parse(good, context).operation, steps)
    with pytest.raises(PassFailure):
        run_steps(ir.Module.parse(bad, context).operation, steps)
    module = ir.Module.parse(good, context)
    run_steps(module.operation, steps)
    assert "memref.get_global" in str(module)


def test_boundary_check() -> None:
    session = Session()
    module = ir.Module.parse(
        """
        gpu.module @m { func.func @k() { return } }
        llvm.func @f() { llvm.return }
        """,
        session.context,
    ).operation
    assert foreign_op(module, Stage("s", "cse")) is None
    assert foreign_op(module, Stage("s", "cse", leaves=("builtin", "llvm"))) is None
    device = Stage("s", "cse", leaves=("builtin", "llvm", "nvvm"), within="gpu.module")
    found = foreign_op(module, device)
    assert found is not None
    assert found.name == "func.func"


def test_a_pass_runs_where_its_subjects_are(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    original = Step.run

    def run(step: Step, module: ir.Operation, *, verify: bool = True) -> bool:
        ran.append(str(step))
        return original(step, module, verify=verify)

    monkeypatch.setattr(Step, "run", run)
    text = """
      func.func @f(%x: complex<f32>) -> f32 {
        %y = complex.sin %x : complex<f32>
        %z = complex.abs %y : complex<f32>
        return %z : f32
      }
      gpu.module @m {
        func.func @g(%a: f32) -> f32 { return %a : f32 }
      }"""
    with Session().context:
        module = ir.Module.parse(text).operation
    steps = (
        "expand-complex,math-expand-ops{ops=clampf},gpu.module(expand-complex),"
        "convert-complex-to-standard,expand-erf,expand-math{}"
    )
    run_steps(module, parse_pipeline(steps))
    # The last is about what the second makes.
    assert ran == ["expand-complex", "convert-complex-to-standard", "expand-math"]


def test_a_pass_runs_where_another_may_have_made_its_subjects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []
    original = Step.run

    def run(step: Step, module: ir.Operation, *, verify: bool = True) -> bool:
        ran.append(step.pass_name)
        return original(step, module, verify=verify)

    monkeypatch.setattr(Step, "run", run)
    text = """
      func.func @f(%a: i8, %b: i1) -> i8 {
        %s, %c = arith.addui_extended %a, %a : i8, i1
        %r = scf.if %b -> i8 { scf.yield %s : i8 } else { scf.yield %a : i8 }
        return %r : i8
      }"""
    with Session().context:
        module = ir.Module.parse(text).operation
    # Nothing is vectors' or of index after what the first and the second say that they make.
    steps = (
        "expand-arith,expand-multi-reduction,convert-index-to-llvm,convert-scf-to-cf,"
        "convert-cf-to-llvm,convert-ub-to-llvm"
    )
    run_steps(module, parse_pipeline(steps))
    assert ran == ["expand-arith", "convert-scf-to-cf", "convert-cf-to-llvm"]


def test_a_pass_that_changes_nothing_says_so() -> None:
    text = "gpu.module @m { gpu.func @k() workgroup(%t: memref<%sxi8, 3>) kernel { gpu.return } }"
    promotes = parse_pipeline("promote-shared-memory")[0]
    for size, has_changed in (("1024", False), ("50000", True)):
        with Session().context:
            module = ir.Module.parse(text.replace("%s", size)).operation
        assert promotes.run(module) is has_changed


def test_what_a_stage_spares_its_passes_do_not_see() -> None:
    with Session().context:
        module = ir.Module.parse(
            "gpu.module @m { func.func @g() { return } } func.func @f() { return }"
        ).operation
    with set_aside(module, "gpu.module"):
        assert "@g" not in str(module)
        assert "@f" in str(module)
    assert "@g" in str(module)

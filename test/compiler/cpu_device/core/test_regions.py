"""What retargeting makes of kernels: stops, spin loops, layouts, loops that LLVM vectorises."""

from __future__ import annotations

import re

import pytest

from hirc.compiler.cpu_device.device_ir import Function, Instruction, parse_module
from hirc.compiler.cpu_device.inlining import with_ptx_before_optimising, with_stops_inlined
from hirc.compiler.cpu_device.liveness import live_at_resumption
from hirc.compiler.cpu_device.retarget import RetargetOptions, retarget
from hirc.compiler.cpu_device.shared_memory import layout_for, shared_variables
from hirc.compiler.cpu_device.stops import SplitFunction, StopCall, split_at_stops
from hirc.compiler.cpu_device.yields import waiting_latches
from hirc.compiler.device_code import DeviceOptions, DeviceSource, device_module
from hirc.compiler.errors import UnsupportedError
from hirc.compiler.ir_text import IrText
from hirc.compiler.llvm_ir import LlvmModule, device_machine, host_machine
from hirc.compiler.target import CPU
from support.cpu_kernels import host_module, nvvm_ir, optimized

_LOOP = """\
define ptx_kernel void @k(ptr %out, i32 %n) {
entry:
  %first = load i32, ptr %out
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ %first, %entry ], [ %more, %loop ]
  %here = add i32 %sum, %i
  call void @barrier()
  %more = add i32 %here, %first
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end
end:
  store i32 %more, ptr %out
  ret void
}
declare void @barrier()
"""


def _classify(instruction: Instruction) -> tuple[StopCall, str] | None:
    return (StopCall(3, "bar", ()), "void") if "@barrier" in instruction.text else None


def _split(text: str) -> SplitFunction:
    return split_at_stops(parse_module(IrText.of(text)).functions["@k"], _classify)


def test_split_in_a_loop() -> None:
    split = _split(_LOOP)
    assert [block.label for block in split.function.blocks] == [
        "entry",
        "loop",
        "loop.after1",
        "end",
    ]
    assert list(split.stops) == ["loop"]
    # The back edge comes from the second half now.
    phi = split.function.blocks[1].phis[0]
    assert "[ %next, %loop.after1 ]" in phi.text


def test_live_over_the_stop() -> None:
    assert live_at_resumption(_split(_LOOP))["loop.after1"] == {"%first", "%here", "%i"}


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("while (__nvvm_atom_cas_gen_i(p, 0, 1)) ;", True),
        ("while (!*(volatile int *)p) ;", True),
        ("int done = 0; while (!done) if (*(volatile int *)p == TX) { *q = 1; done = 1; }", True),
        ("for (int i = 0; i < *q; ++i) p[i] = i;", False),
        ("for (int i = 0; i < *q; ++i) __nvvm_atom_add_gen_i(p, i);", False),
        (
            "int o = *p, s; do { s = o; o = __nvvm_atom_cas_gen_i(p, s, s + 1); } while (o != s);",
            False,
        ),
    ],
)
@pytest.mark.parametrize("level", [0, 2])
def test_spin_loops(body: str, waits: bool, level: int) -> None:
    source = f"KERNEL void k(int *p, int *q) {{ {body} }}"
    module = parse_module(IrText.of(optimized(nvvm_ir(source, opt_level=level), level)))
    latches = waiting_latches(module.functions["@k"])
    # Without optimisation a variable may be what another thread has written.
    assert bool(latches) == waits or (level == 0 and "do {" in body)


_CARRIED = """\
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p, ptr %q) {{
entry:
  %first = load {kind}, ptr %q
  br label %loop
loop:
  %carried = phi {kind} [ %first, %entry ], [ %next, %loop ]
  %next = load volatile {kind}, ptr %q
  store {kind} %carried, ptr %p
  br label %loop
}}
"""


@pytest.mark.parametrize(
    ("kind", "observed"),
    [
        ("float", True),
        ("i128", True),
        ("ptr", True),
        ("{ i32, i1 }", True),
        ("{ { float, float }, i32 }", True),
        ("{ { { i64 }, ptr }, [2 x i32] }", True),
        ("{ [2 x float], i32 }", False),
        ("{}", False),
        ("<{ i32, i8 }>", False),
        ("[2 x i32]", False),
        ("<2 x float>", False),
    ],
)
def test_what_a_spin_loop_has_seen(kind: str, observed: bool) -> None:
    text = retarget(IrText.of(_CARRIED.format(kind=kind)), (), RetargetOptions())
    LlvmModule(text, host_machine(0), name="spin").verify()
    # What is carried, and what is read.
    assert ("observe(" in text, "event(" in text) == (observed, not observed)


_SHARED = """\
@a = internal addrspace(3) global [3 x i8] undef, align 1
@b = internal addrspace(3) global double undef
@c = internal addrspace(3) global [2 x i32] undef, align 64
@d = external addrspace(3) global [0 x float], align 4
define void @f() { store i8 1, ptr addrspace(3) @a ret void }
define void @g() { store i8 1, ptr addrspace(3) @d ret void }
define ptx_kernel void @k() {
  store i8 1, ptr addrspace(3) @b
  store i8 1, ptr addrspace(3) @c
  ret void
}
"""


def test_shared_layout() -> None:
    text = LlvmModule(_SHARED, host_machine(0), name="shared").text()
    module = parse_module(IrText.of(text))
    layout = layout_for(module.functions["@k"], module, shared_variables(module))
    assert layout.offsets == {"@a": 0, "@b": 8, "@c": 64, "@d": 80}
    assert (layout.static_bytes, layout.align) == (80, 64)
    common = layout_for(None, module, shared_variables(module))
    assert common.offsets == {"@a": 0}


def test_a_kernel_has_its_variables_beside_those_of_functions_before_it() -> None:
    text = LlvmModule(_SHARED, host_machine(0), name="shared").text()
    made = retarget(IrText.of(text), (), RetargetOptions())
    assert re.findall(r"%hirc\.shared, i64 (\d+)", made) == ["0", "8", "64"]


_STRAIGHT = """\
KERNEL void straight(float *y, const float *x, float a, int n) {
  int i = BX * NX + TX;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
_BARRIER = """\
SHARED float tile[256];
KERNEL void barrier(float *y, const float *x) {
  int i = BX * NX + TX;
  tile[TX] = x[i] * 2;
  BARRIER();
  y[i] = tile[TX] + 1;
}
"""


@pytest.mark.parametrize(
    ("source", "regions"),
    [(_STRAIGHT, ["straight.region0"]), (_BARRIER, ["barrier.region0", "barrier.region1"])],
    ids=["straight", "barrier"],
)
def test_regions_are_vectorised(source: str, regions: list[str]) -> None:
    if not host_machine(2).triple.startswith("x86_64"):
        pytest.skip("the wide processor is an x86-64")
    text = host_module(source).text()
    for region in regions:
        # The least processor has no stores of some elements only.
        widths = {f"{region}.wide": 8, region: 4 if source is _BARRIER else 1}
        for name, width in widths.items():
            found = re.search(rf"(?ms)^define [^\n]*@{re.escape(name)}\(.*?^}}", text)
            assert found is not None, name
            assert width == 1 or f"<{width} x float>" in found[0], name


def test_same_text_each_time() -> None:
    """What is generated does not depend on the order of hashes."""
    nvvm = optimized(nvvm_ir(_BARRIER))
    options = RetargetOptions(wide_cpu="x86-64-v3")
    assert retarget(IrText.of(nvvm), (), options) == retarget(IrText.of(nvvm), (), options)


def test_regions_hold_what_they_need() -> None:
    """A kernel of many stops is no more than a few times as long as what it does."""
    steps = "".join(
        f"s[t] = v * {n}; BARRIER(); v += s[(t + {n}) % NX]; BARRIER();" for n in range(100)
    )
    source = (
        f"SHARED int s[64]; KERNEL void k(int *out) {{ int t = TX, v = t; {steps} out[t] = v; }}"
    )
    nvvm = optimized(nvvm_ir(source))
    made = retarget(IrText.of(nvvm), (), RetargetOptions())
    assert made.count("\n") < 60 * nvvm.count("\n")


@pytest.mark.parametrize(
    ("source", "what", "line"),
    [
        (
            "NOINLINE int f(int n) { BARRIER(); return n > 1 ? f(n - 1) + f(n - 2) : 1; }\n"
            "KERNEL void k(int *out) { *out = f(TX); }",
            "bar.sync in the function 'f', which calls itself",
            1,
        ),
        (
            "NOINLINE void f(void) { BARRIER(); }\n"
            "void (*table[2])(void) = {f, 0};\n"
            "KERNEL void k(int n) { table[n](); }",
            "bar.sync in the function 'f', which calls itself or is called through a pointer",
            1,
        ),
        (
            "KERNEL void k(int *out, int n) {\n"
            "  volatile int *a = __builtin_alloca(n * 4);\n  a[TX % n] = 1;\n"
            "  BARRIER();\n  *out = a[0]; }",
            "stack memory of a size that is not constant",
            2,
        ),
    ],
    ids=["recursion", "pointer", "dynamic-stack"],
)
def test_refusals(source: str, what: str, line: int) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(what)) as caught:
        host_module(source, debug=True)
    position = caught.value.position
    assert position is not None
    assert position.file.endswith("kernels.c")
    assert position.line == line


def test_a_function_that_ends_its_thread_is_inlined() -> None:
    source = (
        "NOINLINE void f(int n) { if (n) __nvvm_exit(); }\nKERNEL void k(int *o) { f(TX); *o = 1; }"
    )
    module = parse_module(
        with_stops_inlined(IrText.of(optimized(nvvm_ir(source))), device_machine(CPU.chip, 2))
    )
    kernel: Function = module.functions["@k"]
    assert "@f(" not in "".join(item.text for item in kernel.instructions())


def test_inline_ptx_without_an_effect_is_dropped() -> None:
    text = """\
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %unused = getelementptr i8, ptr addrspace(1) %p, i64 4
  call void asm sideeffect "prefetch.global.L2 [$0];", "l"(ptr addrspace(1) %unused)
  store i32 1, ptr addrspace(1) %p
  ret void
}
"""
    machine = device_machine(CPU.chip, 2)
    dropped = with_stops_inlined(IrText.of(text), machine).whole()
    assert dropped == "".join(line for line in text.splitlines(keepends=True) if "asm" not in line)
    # What has an effect becomes a function, which is inlined.
    fenced = text.replace("prefetch.global.L2 [$0];", "st.global.b32 [$0], 2;")
    kept = with_stops_inlined(IrText.of(fenced), machine).whole()
    assert kept.count("store i32") == 2
    assert "asm" not in kept


_READS = """\
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %found = call i32 asm sideeffect "TEMPLATE", "=r,l"(ptr addrspace(1) %p)
  %more = add i32 %found, 1
  store i32 %more, ptr addrspace(1) %p
  ret void
}
"""
_LOAD = "ld.global.b32 $0, [$1];"


@pytest.mark.parametrize("template", [_LOAD, f"prefetch.global.L2 [$1]; {_LOAD}"])
def test_inline_ptx_of_a_thread_is_optimised_with_what_is_around_it(template: str) -> None:
    text = with_ptx_before_optimising(_READS.replace("TEMPLATE", template))
    assert " asm " not in text
    assert "load i32" in text
    # Nothing is left that has to be inlined, so that the code is not optimised again.
    source = DeviceSource("kernels", _READS.replace("TEMPLATE", template), {}, {})
    module = device_module([source], ["k"], CPU, DeviceOptions())
    lines = module.text()
    assert re.search(r"load i32.*\n.*add i32.*\n.*store i32", lines)
    again = IrText.of(lines)
    assert with_stops_inlined(again, device_machine(CPU.chip, 2)) is again


@pytest.mark.parametrize(
    "template",
    [
        # What is not known may be gone once the code is optimised.
        "unknown.b32 $0, [$1];",
        # Other threads take part.
        f"bar.sync 0; {_LOAD}",
        "mbarrier.inval.shared.b64 [$1]; shfl.sync.idx.b32 $0, 1, 0, 31, -1;",
    ],
)
def test_other_inline_ptx_is_left_for_after_the_optimiser(template: str) -> None:
    text = _READS.replace("TEMPLATE", template)
    assert with_ptx_before_optimising(text) == text
    # One such leaves the others, too.
    both = text + _READS.replace("TEMPLATE", _LOAD).replace("@k", "@other")
    assert with_ptx_before_optimising(both) == both


def test_the_loop_of_a_large_region_is_not_optimised() -> None:
    large = "".join(f"o[{n}] += o[{n + 1}] * {n};" for n in range(0, 60, 2))
    for body, is_plain in ((large, True), ("*o = 1;", False)):
        source = f"KERNEL void k(volatile int *o) {{ {body} }}"
        device = with_stops_inlined(
            IrText.of(optimized(nvvm_ir(source))), device_machine(CPU.chip, 2)
        )
        text = retarget(device, ("k",), RetargetOptions(most_optimised=60))
        loop = re.search(r"^define internal i32 @k\.region0\(.*$", text, re.MULTILINE)
        assert loop is not None
        assert ("optnone" in loop[0]) == is_plain

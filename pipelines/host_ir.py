"""The stages a Host IR program goes through before it is a GPU program.

They take `hir` (docs/host-ir.md) to func, scf, memref and gpu; pipelines/gpu_program does the rest.
"""

from __future__ import annotations

from dataclasses import field

from ..dialects.mlir import ir
from ..dialects.records import dataclass
from .passes.check_buffer_views import has_buffer_views
from .passes.check_divisions import has_divisions
from .passes.copy_carried_tensors import BUFFERIZE
from .passes.run_async_in_order import has_async
from .passes.run_transform_schedules import has_schedules
from .passes.select_host_programs import host_programs
from .pipeline import Stage
from .products.options import MatmulOptions
from .weights import has_weights

PROGRAM = "hir.program"
LAUNCHER = "hir.launcher"
KERNEL = "hir.kernel"
# Upstream erases each linalg operation with a buffer that its type says is empty. Collective
# operations give a value for no elements too.
_CANONICALIZE = "canonicalize{disable-patterns={anonymous}::EraseDeadLinalgOp}"
# After it every allocation and deallocation of a program is explicit; those of scratch memory are
# added by the stage that makes kernels.
LAST_ALLOCATING_STAGE = "compute"
SCHEDULING_STAGE = "schedules"
FIRST_LOWERING_STAGE = "programs"
FUSION_STAGE = "fusion"
INTERFACE_STAGE = "interface"


@dataclass(frozen=True)
class HostIrOptions:
    """What changes the lowering of host programs.

    `entry` is the program that an executable runs; `executable` whether one is made.
    `chips` are those that kernels are scheduled for; `products` is about matrix products.
    Kernels come of schedules that are `tuned`, or of those that take every operation.
    With `marks_launches` the stage "schedules" leaves on each launch which operation it is of.
    Programs of `graph_launches` or more launches are replayed as device graphs; 0 is none.
    Communications and products overlap in up to `overlap_steps`; with 0 the chips say in how many.
    With `overlap_by_peers` they do so by memory that devices share, wherever that is possible.
    With `fusion_report` the stage "fusion" leaves its report (pipelines/fusion/report.py).
    """

    entry: str = "main"
    executable: bool = True
    chips: tuple[str, ...] = ()
    products: MatmulOptions = field(default_factory=MatmulOptions)
    fusion_report: bool = False
    marks_launches: bool = False
    tuned: bool = True
    graph_launches: int = 0
    overlap_steps: int = 0
    overlap_by_peers: bool = False


def has_programs(module: ir.Operation) -> bool:
    """Returns whether a module holds a host program."""
    return any(op.operation.name == PROGRAM for op in module.regions[0].blocks[0])


def _has_host_ir(module: ir.Operation) -> bool:
    """Returns whether a module holds a host program, or what one would launch."""
    return any(
        op.operation.name in (PROGRAM, LAUNCHER, KERNEL) for op in module.regions[0].blocks[0]
    )


def _products(options: MatmulOptions) -> str:
    """Returns the pass that calls the library of matrix products, or makes them
    ready for kernels.
    """
    if not options.are_formed:
        return ""
    allow_tf32 = str(options.allow_tf32).lower()
    ignores_nan = str(options.ignores_nan).lower()
    return (
        f"hir-call-matmul-library{{allow-tf32={allow_tf32} ignores-nan={ignores_nan} "
        f"kernel-multiplications={options.kernel_multiplications} "
        f"own={str(options.own).lower()} falls-back={str(options.falls_back).lower()}}},"
    )


def _reads_in_place(options: MatmulOptions, chips: tuple[str, ...]) -> str:
    """Returns the pass that spares products copies of what they read, which may have
    any strides.
    """
    if not options.are_formed:
        return ""
    return (
        f"read-products-in-place{{chips={'+'.join(chips)} "
        f"kernel-multiplications={options.kernel_multiplications}}},"
    )


def _generalizes(options: MatmulOptions) -> str:
    """Returns the pass that makes small products operations that others are fused with."""
    return f"generalize-small-products{{kernel-multiplications={options.kernel_multiplications}}},"


def _fuses_into(options: MatmulOptions, chips: tuple[str, ...]) -> str:
    """Returns the pass that makes products and what the library does in their calls
    one operation.
    """
    if not options.library:
        return ""
    ignores_nan = str(options.ignores_nan).lower()
    named = f" chips={'+'.join(chips)}" if options.falls_back else ""
    return (
        f"fuse-into-products{{ignores-nan={ignores_nan} "
        f"kernel-multiplications={options.kernel_multiplications}{named}}},"
    )


def _forms(options: MatmulOptions) -> str:
    """Returns the pass that makes sums of products one operation with what is done around them."""
    return (
        f"form-contractions{{allow-tf32={str(options.allow_tf32).lower()} "
        f"products={str(options.own).lower()} "
        f"kernel-multiplications={options.kernel_multiplications}}}"
    )


def _transforms(options: HostIrOptions) -> str:
    """Returns the pass that makes convolutions products of what is transformed, where these may
    round otherwise.
    """
    if not options.products.transforms or not options.tuned:
        return ""
    return f"transform-convolutions{{chips={'+'.join(options.chips)}}},"


def _lays_together(options: HostIrOptions) -> str:
    """Returns the pass that makes terms of convolutions and products contiguous."""
    products = options.products
    return (
        f"lay-channels-together{{chips={'+'.join(options.chips)} "
        f"allow-tf32={str(products.allow_tf32).lower()} products={str(products.own).lower()} "
        f"kernel-multiplications={products.kernel_multiplications}}},"
    )


def _pads(options: MatmulOptions, chips: tuple[str, ...]) -> str:
    """Returns the pass that gives products sizes for which the library is fast."""
    if not options.library:
        return ""
    return (
        f",pad-product-sizes{{chips={'+'.join(chips)} "
        f"kernel-multiplications={options.kernel_multiplications}}}"
    )


def _widens(options: HostIrOptions) -> str:
    """Returns the pass that lets the copy engine read rows of terms of any size."""
    return f",widen-term-rows{{chips={'+'.join(options.chips)}}}" if options.tuned else ""


def _attention(options: HostIrOptions) -> str:
    """Returns the pass that makes attention one operation, for which tuned schedules
    have a kernel.
    """
    if not options.tuned:
        return ""
    chips = "+".join(options.chips)
    return f"fuse-attention{{chips={chips}}},func.func(canonicalize,cse),"


def host_ir_stages(options: HostIrOptions) -> list[Stage]:
    """Returns the stages, in order; their names are stable. A module without a
    program skips them.
    """
    executable = str(options.executable).lower()
    report, chips = str(options.fusion_report).lower(), "+".join(options.chips)
    by_peers = " by-peers=true" if options.overlap_by_peers else ""
    marks = " mark=true" if options.marks_launches else ""
    entry = f"entry={options.entry} executable={executable}"
    buffer_entry = options.entry if options.executable else None
    return [
        Stage(
            "transform",
            "run-transform-schedules,erase-transform-schedules",
            when=has_schedules,
        ),
        Stage("async", "run-async-in-order", when=has_async),
        Stage(
            "views",
            "check-buffer-views,check-divisions",
            when=lambda module: has_buffer_views(module) or has_divisions(module),
        ),
        Stage("weights", f"lay-out-weights{{{entry}}}", when=has_weights),
        Stage(
            "tensor-functions",
            f"hir-resolve-aliases,hir-divide-over-mesh{{chips={chips}}},hir-form-tensor-functions",
            when=has_programs,
            passing=True,
        ),
        Stage(
            FUSION_STAGE,
            f"expand-tensor-reshapes,select-host-programs{{{entry}}},convert-while-to-for,"
            "keep-unwritten-elements,check-tensor-views,decompose-structured-tensors,convert-scatter-to-linalg,convert-sort-to-linalg,"
            "func.func(lower-affine,convert-elementwise-to-linalg,canonicalize,cse),"
            # Devices send what products read, not what it is extended to.
            f"reshape-idle-transposes,narrow-product-operands,divide-functions-over-mesh{{chips={chips}}},"
            "convert-concat-to-linalg{to-fuse=true},"
            f"{'split-float32-products,' if options.products.splits else ''}"
            f"{_reads_in_place(options.products, options.chips)}{_generalizes(options.products)}"
            f"{_lays_together(options) if options.tuned else ''}"
            "normalize-tensor-operations,func.func(canonicalize,cse),split-reshaped-loops,"
            # Sizes then do not come from tensors that are fused away.
            "resolve-tensor-sizes,func.func(canonicalize,cse),"
            f"fuse-tensor-operations{{report={report}}},"
            f"{_fuses_into(options.products, options.chips)}{_transforms(options)}"
            f"{_forms(options.products)},widen-tensor-arithmetic,func.func(canonicalize,cse),"
            f"{_attention(options)}drop-idle-loops{_widens(options)}"
            f"{_pads(options.products, options.chips)}",
            when=lambda module: bool(host_programs(module, buffer_entry)),
        ),
        Stage(
            "functions",
            # Loops then no longer carry the buffers that they update in place.
            "check-tensor-operations,convert-pad-to-linalg,convert-concat-to-linalg,"
            "expand-tensor-choices,empty-tensor-views,separate-starts,write-updates,"
            f"write-carried-tensors,copy-carried-tensors,{BUFFERIZE},own-branch-results,func.func(lower-affine,{_CANONICALIZE},cse),convert-func-to-hir,"
            "hir-inline-tensor-functions",
            when=lambda module: bool(host_programs(module, buffer_entry)),
            passing=True,
        ),
        Stage(
            "stream-loops",
            "hir-form-stream-loops",
            when=has_programs,
            passing=True,
        ),
        Stage(
            "allocations",
            f"hir-insert-communication,hir-overlap-communication{{chips={chips} "
            f"steps={options.overlap_steps}{by_peers}}},"
            "hir-insert-allocations,hir-insert-deallocations,"
            "hir-check-weights,hir-verify-ownership,hir-reuse-buffers",
            when=has_programs,
        ),
        Stage(
            "compute",
            f"hir-expand-stream-loops,{_products(options.products)}hir-convert-compute-to-linalg,"
            f"{PROGRAM}(linalg-generalize-named-ops)",
            when=has_programs,
            passing=True,
        ),
        Stage(
            "schedules",
            f"hir-schedule-kernels{{chips={chips} "
            f"tuned={str(options.tuned).lower()}{marks}}},{PROGRAM}(canonicalize,cse),"
            # Every stage from here on visits what is in kernels; a third of it is equal constants.
            "gpu.module(cse),"
            "hir-decide-by-limits,hir-join-classes,"
            # Sizes that are known to be equal are one value by now: checks of them go.
            f"{LAUNCHER}(canonicalize,cse,canonicalize)",
            when=has_programs,
        ),
        Stage("programs", "convert-hir-to-gpu", when=_has_host_ir, passing=True),
        Stage(
            INTERFACE_STAGE,
            f"add-program-interface{{{entry} graph-launches={options.graph_launches}}}",
            passing=True,
        ),
    ]

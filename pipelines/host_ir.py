"""The stages a Host IR program goes through before it is a GPU program.

They take `hir` (docs/host-ir.md) to func, scf, memref and gpu; pipelines/gpu_program does the rest.
"""

from __future__ import annotations

from dataclasses import field

from ..dialects.mlir import ir
from ..dialects.records import dataclass
from .convolutions.options import ConvolutionOptions
from .pass_base import pass_text
from .passes.check_buffer_views import has_buffer_views
from .passes.check_divisions import has_divisions
from .passes.copy_carried_tensors import BUFFERIZE
from .passes.run_async_in_order import has_async
from .passes.run_transform_schedules import has_schedules
from .passes.select_host_programs import host_programs
from .pipeline import Stage, pipeline_text
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
    `chips` are those that kernels are scheduled for; `products` is about matrix products, and
    `convolutions` about those.
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
    convolutions: ConvolutionOptions = field(default_factory=ConvolutionOptions)
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


def _fusion(options: HostIrOptions, entry: str) -> list[str | bool]:
    """Returns the passes that make fewer operations of those on tensors."""
    products, chips = options.products, options.chips
    most = products.kernel_multiplications
    formed = {
        "allow_tf32": products.allow_tf32,
        "products": products.own,
        "kernel_multiplications": most,
    }
    finished: dict[str, str | bool | int] = {
        "ignores_nan": products.ignores_nan,
        "kernel_multiplications": most,
        "allow_tf32": products.allow_tf32,
    }
    if products.falls_back:
        finished["chips"] = "+".join(chips)
    return [
        "expand-tensor-reshapes",
        entry,
        "convert-while-to-for",
        "keep-unwritten-elements",
        "check-tensor-views",
        "decompose-structured-tensors",
        "convert-scatter-to-linalg",
        "convert-sort-to-linalg",
        "func.func(lower-affine,convert-elementwise-to-linalg,canonicalize,cse)",
        # Devices send what products read, not what it is extended to.
        "reshape-idle-transposes",
        "narrow-product-operands",
        pass_text("divide-functions-over-mesh", chips=chips),
        pass_text(
            "convert-concat-to-linalg",
            to_fuse=True,
            factors=options.tuned and products.are_formed,
            chips=chips,
        ),
        products.splits and "split-float32-products",
        products.are_formed
        and pass_text("read-products-in-place", chips=chips, kernel_multiplications=most),
        pass_text("generalize-small-products", kernel_multiplications=most),
        options.tuned
        and not options.convolutions.is_for_all
        and pass_text("form-subpixel-convolutions", chips=chips, allow_tf32=products.allow_tf32),
        options.tuned
        and pass_text(
            "lay-channels-together", chips=chips, library=options.convolutions.is_for_all, **formed
        ),
        "normalize-tensor-operations",
        "func.func(canonicalize,cse)",
        "split-reshaped-loops",
        # Sizes then do not come from tensors that are fused away.
        "resolve-tensor-sizes",
        "func.func(canonicalize,cse)",
        pass_text("fuse-tensor-operations", report=options.fusion_report),
        options.tuned
        and products.are_formed
        and pass_text("mark-computed-factors", chips=chips, kernel_multiplications=most),
        products.library and pass_text("fuse-into-products", **finished),
        # These round otherwise.
        products.transforms
        and options.tuned
        and not options.convolutions.is_for_all
        and pass_text("transform-convolutions", chips=chips),
        pass_text("form-contractions", **formed, chips=chips if options.tuned else ()),
        "widen-tensor-arithmetic",
        "func.func(canonicalize,cse)",
        options.tuned and pass_text("fuse-attention", chips=chips),
        options.tuned and "func.func(canonicalize,cse)",
        "drop-idle-loops",
        options.tuned and pass_text("widen-term-rows", chips=chips),
        products.library
        and pass_text("pad-product-sizes", chips=chips, kernel_multiplications=most),
    ]


def host_ir_stages(options: HostIrOptions) -> list[Stage]:
    """Returns the stages, in order; their names are stable. A module without a
    program skips them.
    """
    products, chips = options.products, options.chips
    entry: dict[str, str | bool] = {"entry": options.entry, "executable": options.executable}
    buffer_entry = options.entry if options.executable else None

    def has_functions(module: ir.Operation) -> bool:
        return bool(host_programs(module, buffer_entry))

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
        Stage("weights", pass_text("lay-out-weights", **entry), when=has_weights),
        Stage(
            "tensor-functions",
            pipeline_text(
                "hir-resolve-aliases",
                pass_text("hir-divide-over-mesh", chips=chips),
                "hir-form-tensor-functions",
            ),
            when=has_programs,
            passing=True,
        ),
        Stage(
            FUSION_STAGE,
            pipeline_text(*_fusion(options, pass_text("select-host-programs", **entry))),
            when=has_functions,
        ),
        Stage(
            "functions",
            # Loops then no longer carry the buffers that they update in place.
            "check-tensor-operations,convert-pad-to-linalg,convert-concat-to-linalg,"
            "expand-tensor-choices,empty-tensor-views,separate-starts,write-updates,"
            f"write-carried-tensors,copy-carried-tensors,{BUFFERIZE},own-branch-results,"
            f"func.func(lower-affine,{_CANONICALIZE},cse),convert-func-to-hir,"
            "hir-inline-tensor-functions",
            when=has_functions,
            passing=True,
        ),
        Stage("stream-loops", "hir-form-stream-loops", when=has_programs, passing=True),
        Stage(
            "allocations",
            pipeline_text(
                "hir-insert-communication",
                pass_text(
                    "hir-overlap-communication",
                    chips=chips,
                    steps=options.overlap_steps,
                    by_peers=options.overlap_by_peers,
                ),
                "hir-insert-allocations,hir-insert-deallocations",
                "hir-check-weights,hir-verify-ownership,hir-reuse-buffers",
            ),
            when=has_programs,
        ),
        Stage(
            "compute",
            pipeline_text(
                "hir-expand-stream-loops",
                products.are_formed
                and pass_text(
                    "hir-call-matmul-library",
                    allow_tf32=products.allow_tf32,
                    ignores_nan=products.ignores_nan,
                    kernel_multiplications=products.kernel_multiplications,
                    own=products.own,
                    falls_back=products.falls_back,
                ),
                "hir-convert-compute-to-linalg",
                f"{PROGRAM}(linalg-generalize-named-ops)",
                options.convolutions.library
                and pass_text(
                    "hir-call-convolution-library",
                    chips=chips,
                    falls_back=options.convolutions.falls_back,
                    transforms=products.transforms,
                ),
            ),
            when=has_programs,
            passing=True,
        ),
        Stage(
            "schedules",
            pipeline_text(
                pass_text(
                    "hir-schedule-kernels",
                    chips=chips,
                    tuned=options.tuned,
                    mark=options.marks_launches,
                ),
                f"{PROGRAM}(canonicalize,cse)",
                # Every stage from here on visits what is in kernels; a third of it is equal
                # constants.
                "gpu.module(cse)",
                "hir-decide-by-limits,hir-join-classes",
                # Sizes that are known to be equal are one value by now: checks of them go.
                f"{LAUNCHER}(canonicalize,cse,canonicalize)",
            ),
            when=has_programs,
        ),
        Stage("programs", "convert-hir-to-gpu", when=_has_host_ir, passing=True),
        Stage(
            INTERFACE_STAGE,
            pass_text("add-program-interface", **entry, graph_launches=options.graph_launches),
            passing=True,
        ),
    ]

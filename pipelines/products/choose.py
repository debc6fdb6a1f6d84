"""The choice between the library and hirc's kernel, by sizes that are known at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.hir.has_library import CUBLASLT
from ...dialects.mlir import arith, ir
from ..fusion.tiles import FALLBACK, ROUNDED
from ..generics import emit_generic, reduce_over
from ..hir.loops import emit_by_library, emit_either
from ..schedules.floor import GENERAL
from .options import MatmulOptions
from .product import Product, emit_call
from .small import emit_is_for_kernel, is_for_kernel, takes_terms_in_turn


def emit_product(
    product: Product,
    options: MatmulOptions,
    kernel: Callable[[], ir.Operation] | None = None,
    finish: Callable[[], None] = lambda: None,
    clone: Callable[[], ir.Operation] | None = None,
) -> None:
    """The product at the insertion point, by the library where no kernel of its own is to be.

    Of options.own it is none, and otherwise where a kernel takes no less time.

    `kernel` emits an operation that computes all of it, a linalg.generic; `finish` what follows
    one that does not; `clone` an operation that adds to memory, where the product does.
    """

    def call() -> None:
        if not options.falls_back:
            call_library()
            return
        emit_by_library(CUBLASLT, call_library, fall_back)

    def call_library() -> None:
        emit_call(product, allow_tf32=options.allow_tf32)
        finish()

    def fall_back() -> None:
        whole = clone if product.accumulates else kernel
        work = emit_sum(product) if whole is None else whole()
        work.attributes[FALLBACK] = ir.UnitAttr.get()
        allow_rounding(work)
        if whole is None:
            finish()

    def allow_rounding(work: ir.Operation) -> None:
        if options.allow_tf32 or product.is_tf32:
            work.attributes[ROUNDED] = ir.UnitAttr.get()

    def compute() -> None:
        work = emit_sum(product) if kernel is None else kernel()
        if takes_terms_in_turn(product) and not options.own:
            work.attributes[GENERAL] = ir.UnitAttr.get()
        if options.own:
            allow_rounding(work)
        if kernel is None:
            finish()

    if options.own:
        compute()
        return
    has_kernel = kernel is not None or not (product.accumulates or product.activation)
    most = options.kernel_multiplications
    if not has_kernel or is_for_kernel(product, most) is not None:
        call()
        return
    emit_either(emit_is_for_kernel(product, most), compute, call)


def emit_sum(product: Product) -> ir.Operation:
    """Returns a product that accumulates nothing, and all it adds, as one linalg.generic."""
    result = product.result.type.element_type
    wide = ir.F64Type.get() if product.first.element == "f64" else ir.F32Type.get()
    loops = product.summed

    def extended(value: ir.Value) -> ir.Value:
        return value if value.type == wide else arith.extf(wide, value)

    def body(arguments: Sequence[ir.Value]) -> list[ir.Value]:
        first, second, *added = map(extended, arguments[:-1])
        total = arith.mulf(first, second)
        if loops:
            total = reduce_over(loops, "addf", total)
        for each in added:
            total = arith.addf(total, each)
        return [total if total.type == result else arith.truncf(result, total)]

    inputs = list(map(product.mapped, product.inputs))
    return emit_generic(product.loops, loops, inputs, [product.mapped(product.result)], body)

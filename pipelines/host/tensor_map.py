"""nvgpu.tma.create.descriptor: the driver encodes a TMA descriptor, which stays a value."""

from __future__ import annotations

import re

from ...dialects.mlir import ir
from ..pass_base import fail
from ..tensormap import ALIGNMENT, ROUNDS, STEPS, struct_type
from .buffer import stack_array, stack_descriptor
from .emitter import Emitter
from .lowering import lowers
from .types import element_bytes

# The integers of CUDA's enums (CUDA driver API, cuTensorMapEncodeTiled).
_ELEMENT_KINDS = {
    "i8": 0,
    "ui8": 0,
    "i16": 1,
    "ui16": 1,
    "i32": 3,
    "ui32": 2,
    "i64": 5,
    "ui64": 4,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
    "tf32": 11,
    "f8E4M3FN": 0,
    "f8E5M2": 0,
}
_SWIZZLES = {"none": 0, "swizzle_32b": 1, "swizzle_64b": 2, "swizzle_128b": 3}
_PROMOTIONS = {"none": 0, "l2promo_64b": 1, "l2promo_128b": 2, "l2promo_256b": 3}
_FILLS = {"zero": 0, "nan": 1}
_INTERLEAVES = {"none": 0, "interleave_16b": 1, "interleave_32b": 2}


@lowers("nvgpu.tma.create.descriptor")
def lower_create_descriptor(op: ir.Operation, emit: Emitter) -> list[ir.Value]:
    """Returns the 128 bytes, encoded in a stack slot and loaded: the value that launches pass."""
    tensor, *box = op.operands
    descriptor = op.results[0].type
    element = _element_type(tensor.type)
    kind = _ELEMENT_KINDS.get("tf32" if ROUNDS in op.attributes else str(element))
    if kind is None:
        fail(op, f"the tensor memory accelerator has no element type {element}")
    rank, ranked = stack_descriptor(emit, tensor)
    bytes_type = struct_type(op.context)
    steps = ir.DenseI64ArrayAttr(op.attributes[STEPS]) if STEPS in op.attributes else [1] * len(box)
    slot = emit.stack_slot(bytes_type, alignment=ALIGNMENT)
    emit.call(
        "hirc_tensor_map_encode",
        [
            slot,
            rank,
            ranked,
            emit.i32(kind),
            emit.i64(element_bytes(element)),
            stack_array(emit, [emit.convert(size) for size in box]),
            stack_array(emit, [emit.i64(step) for step in steps]),
            emit.i32(_INTERLEAVES[_parameter(descriptor, "interleave")]),
            emit.i32(_SWIZZLES[_parameter(descriptor, "swizzle")]),
            emit.i32(_PROMOTIONS[_parameter(descriptor, "l2promo")]),
            emit.i32(_FILLS[_parameter(descriptor, "oob")]),
            emit.location(),
        ],
    )
    return [emit.cast(emit.load(bytes_type, slot), descriptor)]


def _element_type(tensor: ir.Type) -> ir.Type:
    if isinstance(tensor, ir.UnrankedMemRefType):
        return tensor.element_type
    return ir.MemRefType(tensor).element_type


def _parameter(descriptor: ir.Type, name: str) -> str:
    """Returns a parameter of the descriptor's type; the bindings have no accessor for it."""
    found = re.search(rf"\b{name} = (\w+)", str(descriptor))
    assert found is not None, descriptor
    return found[1]

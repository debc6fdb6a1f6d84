"""`offload.image`: device code for one chip, embedded in the host module."""

from enum import StrEnum
from typing import Any

from ..mlir import ir
from .dialect import Offload, has_attributes

String = ir.StringAttr


class ImageFormat(StrEnum):
    """What an image's bytes are."""

    BITCODE = "bitcode"
    CUBIN = "cubin"
    OBJECT = "object"


class ImageOp(Offload.Operation, name="image"):
    """Device code for `arch`, in `format`; `data` is a tensor of its bytes.

    Example:
      "offload.image"() {arch = "sm_90", triple = "nvptx64-nvidia-cuda", format = "bitcode",
        data = dense<[66, 67]> : tensor<2xi8>} : () -> ()
    """

    arch: String
    triple: String
    format: String
    data: Any

    @staticmethod
    def verify_invariants(op: "ImageOp") -> bool:
        if not has_attributes(op, format=String, data=ir.Attribute):
            return True
        if op.format.value not in set(ImageFormat):
            op.location.emit_error(
                f"offload.image format is one of {', '.join(ImageFormat)}, not '{op.format.value}'"
            )
            return False
        byte = ir.IntegerType.get_signless(8, op.operation.context)
        data = op.data
        if (
            not isinstance(data, ir.DenseElementsAttr)
            or ir.ShapedType(data.type).element_type != byte
        ):
            op.location.emit_error("offload.image data is a tensor of i8")
            return False
        return True

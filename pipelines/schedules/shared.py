"""The shared memory of a kernel's blocks, handed out in areas; the launch gives its size."""

from __future__ import annotations

from ...dialects.mlir import arith, gpu, ir, memref

# In PTX's and LLVM's numbering of address spaces.
SHARED = 3
_ALIGNMENT = 16


class SharedMemory:
    """Areas one after another, each from a multiple of 16 bytes on.

    `bytes` is how much they take together: what the launch is to ask for.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._start: ir.Value | None = None

    def area(self, size: int) -> ir.Value:
        """The address of `size` bytes of the block, `!llvm.ptr<3>`, in the kernel being emitted."""
        if self._start is None:
            kind = ir.Type.parse("memref<?xi8, #gpu.address_space<workgroup>>")
            number = memref.extract_aligned_pointer_as_index(gpu.dynamic_shared_memory(kind))
            i64 = ir.IntegerType.get_signless(64)
            self._start = ir.Operation.create(
                "llvm.inttoptr",
                results=[ir.Type.parse(f"!llvm.ptr<{SHARED}>")],
                operands=[arith.index_cast(i64, number)],
            ).results[0]
        first = self.bytes
        self.bytes += -(-size // _ALIGNMENT) * _ALIGNMENT
        if first == 0:
            return self._start
        return ir.Operation.create(
            "llvm.getelementptr",
            results=[self._start.type],
            operands=[self._start],
            attributes={
                "elem_type": ir.TypeAttr.get(ir.IntegerType.get_signless(8)),
                "rawConstantIndices": ir.DenseI32ArrayAttr.get([first]),
            },
        ).results[0]

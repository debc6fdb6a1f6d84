"""Matrix products that cuBLASLt computes: `hir.library_matmul` in place of linalg operations.

`contraction` reads a linalg operation on buffers as a `product`, `compute` a hir.matmul or
hir.linear; `fits` says which of them the library can compute, `small` which are kernels all the
same, by the numbers in `options`; `choose` emits one or the other, or both where sizes are open;
`fills` finds the zeros that a sum begins with; `call` puts them together.
`matmul`, `linear` and `loops` make linalg operations of the Host IR operations that are left.

Before, on tensors, `reads` finds what products read behind copies, and `fused` makes one operation
of a product and what the library does in its call, which `finish` tells.
"""

"""Convolutions that cuDNN computes: `hir.library_convolution` in place of linalg operations.

`read` reads the contraction schedule's form of a linalg operation on buffers as a `convolution`,
`turned` finds the weights behind a copy of them that is turned round, as transposed convolutions
read it; `choose` says which of them the library is called for, by the numbers in `options`; `call`
emits the call, and what is made of the sums as an operation of its own.
"""

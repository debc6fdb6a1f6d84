"""How operations of the `hir` dialect become func, scf, memref, gpu and calls of the runtime.

Every operation has a file with a function that is registered under the operation's name.
`program` converts a whole program; `walk` takes the operations of a block in order.
"""

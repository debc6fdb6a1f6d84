"""The gpu dialect's host operations as calls of the CUDA runtime's C ABI: one operation a file.

`lowering` keeps the table of them, `emitter` builds the IR they share. An asynchronous token is
the stream its operation runs on. Names beginning with `hirc_` are the support library's
(compiler/runtime).
"""

"""A program's C interface: what `add-program-interface` is made of.

`signature` reads what a program takes and gives, `code` builds the operations, `tensor` is the
DLTensor of the DLPack specification in memory. `caller_tensors` reads the caller's, which the
support library has compared with the signature by then; `arguments` and `results` convert between
them and the body's values, `function` puts them together. `info` describes the program in a
constant, `entry` makes a body of a func.func, and `exports` is what a library offers besides its
programs.
"""

"""A program's C interface: what `add-program-interface` is made of.

`signature` reads what a program takes and gives, `code` builds the operations, `tensor` is the
DLTensor of the DLPack specification in memory. `checks` compares the caller's tensors with the
signature, `arguments` and `results` convert between tensors and the body's values, `function` puts
them together. `info` describes the program in a constant, `entry` makes a body of a func.func, and
`exports` is what a library offers besides its programs.
"""

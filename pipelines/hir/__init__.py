"""What the passes on Host IR share: one idea a file.

`memory` follows what is allocated and freed, `streams` what is ordered after what, `communication`
writes what devices send each other. `compute` turns compute operations into linalg, `lowering` the
rest into func, scf, memref and gpu, `interface` makes a program callable from outside.
"""

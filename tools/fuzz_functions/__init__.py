"""Random functions on tensors, compiled for the CPU device, against numpy.

`python -m hirc.tools.fuzz_functions`. `draw.py` writes a function from a seed: into a `Writer`, by
the operations of `elementwise.py`, `reductions.py`, `shapes.py`, `products.py` and `control.py`.
Each also says what it gives, with a bound of the error of every element (`numbers.py`).
`child.py` compiles and runs a batch of functions in a process of its own.
"""

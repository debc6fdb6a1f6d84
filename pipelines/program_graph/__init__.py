"""What a program does, as data for a picture of it: its steps in order, and its buffers.

`programs` reads host programs and, once they are made, their kernels; `functions` the host side of
GPU programs.
"""

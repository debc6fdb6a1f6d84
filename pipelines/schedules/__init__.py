"""Schedules: how a linalg operation on buffers becomes a GPU kernel and its launch.

`iteration` reads an operation's loops, `kernels` keeps the gpu.module that kernels go to; each
schedule is a file. `general` is the floor: it takes every linalg.generic, of any rank, strides and
element types.
"""

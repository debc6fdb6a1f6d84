"""Schedules: how a linalg operation on buffers becomes a GPU kernel and its launch.

`choose` asks one schedule after the other: transpose, pointwise, windows, rows, columns, scan;
files of one begin with its name. `general` and `streaming` are the floor: they take every
linalg.generic, of any rank, strides and element types. `work` is an operation as schedules see it,
`region` evaluates its region, `parameters` and `elements` are what a kernel is given and reads,
`alternatives` chooses at run time, `kernels` keeps the gpu.module that kernels go to, and `device`
is what they know of chips.
"""

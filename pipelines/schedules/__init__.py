"""Schedules: how a linalg operation on buffers becomes a GPU kernel and its launch.

`choose` asks one schedule after the other, a folder each: `transpose`, `pointwise`, `windows`,
`rows`, `columns`, `scan`. `floor` takes every linalg.generic, of any rank, strides and element
types. `work` is an operation as schedules see it, `region` evaluates its region, `parameters` and
`elements` are what a kernel is given and reads, `alternatives` chooses at run time, `kernels` keeps
the gpu.module that kernels go to, and `device` is what they know of chips.
"""

"""One file for several kinds of devices: which of them answers is chosen when the program runs.

The linked file has several CUDA runtimes: NVIDIA's, HIP's in its place, and the CPU device's, of
which hirc's own have other names. The link wraps the functions that they have in common (`--wrap`),
so that every call of them, from hirc's code or the user's, goes to a function of `dispatch`, a jump
through a slot; `choose.c` fills the slots at the first call. Each registers the kernels for itself,
before that. Files for one kind of device have none of it.
"""

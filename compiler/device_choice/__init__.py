"""One file for GPUs and the CPU device: which of them answers is chosen when the program runs.

The linked file has both CUDA runtimes, the CPU device's under other names. The link wraps the
functions that both have (`--wrap`), so that every call of them, from our code or the user's, goes
to a function of `dispatch`, a jump through a slot; `choose.c` fills the slots at the first call.
Both register the kernels for themselves, before that. Files for one kind of device have none of it.
"""

"""Programs for AMD's GPUs: HIP's runtime in CUDA's place.

Host code is the same for every device and calls CUDA's runtime. In files for AMD's GPUs these
calls are answered by `runtime/`, C that loads libamdhip64 when the program runs and hands them on,
as it does what clang's link registers kernels with. So no build needs ROCm's runtime.
"""

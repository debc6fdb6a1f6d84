"""What happens to a program: passes, and the pipelines that put them in order.

`pass_base` is what a pass is, `passes/` holds hirc's, `host/` the lowerings of the gpu dialect's
host operations to CUDA runtime calls, `pipeline` the textual form and the runner, `gpu_program`
the stages a GPU program goes through. Nothing here knows of files, processes or options.
"""

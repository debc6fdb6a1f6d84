"""What can be said: upstream's dialects (`mlir`) and ours (`offload`).

Nothing here knows of passes, files or processes.
"""

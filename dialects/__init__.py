"""What can be said: upstream's dialects (`mlir`) and hirc's (`offload`).

Nothing here knows of passes, files or processes.
"""

"""What the passes on Host IR share: one idea a file.

Passes themselves are in pipelines/passes; docs/host-ir.md lists them in their order.
"""

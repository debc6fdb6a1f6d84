"""Fusion of linalg operations on tensors: what fuse-tensor-operations is made of.

`generalize` gives named operations regions, `normalize` brings every linalg.generic to one form
(with `reductions`, `finds` and `scans` for what combines elements), `sizes` knows which dims are
equal, `node` and `group` say what iterates over what, `spaces` unifies the loops of two groups,
`validity` and `cost` refuse what cannot or should not be one kernel, `order` keeps the
operations' order possible, `grouping` decides, `region` and `build` make one operation of a
group, and `report` tells what was done and why not more.
"""

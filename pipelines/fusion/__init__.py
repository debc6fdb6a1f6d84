"""Fusion of linalg operations on tensors: what the passes of the stage "fusion" are made of.

`generalize` gives named operations regions, `normalize` brings every linalg.generic to one form
(with `reductions` and `scans` for what combines elements, `fills` for tensors of one scalar),
`sizes` knows which dims are equal, `node` and `group` say what iterates over what, `spaces`
unifies the loops of two groups, `validity` and `cost` refuse what cannot or should not be one
kernel, `order` keeps an order of the operations possible, `grouping` decides, `recompute` and
`gathers` move cheap work to what reads it, `region` and `build` make one operation of a group,
`widen` computes with narrow floats in f32, and `report` tells what was done and why not more.
"""

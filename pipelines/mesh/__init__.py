"""Functions on tensors over a mesh: from what the whole is to what each device does.

- `declared`: what a function says of its mesh, and of how arguments and results are spread
- `loops`: the loops of linalg operations that devices may divide among them
- `linear`: what of sums' parts gives the parts of a sum
- `views`: which dims of a view are dims of its tensor
- `unfold`: a linalg operation with several loops in place of one, so that reshapes move past it
- `wishes`: how the results' spreads would have each value spread
- `division`: the rewriting, operation by operation

How an operation is divided is chosen as for Host IR (pipelines/hir/mesh/choice.py).
"""

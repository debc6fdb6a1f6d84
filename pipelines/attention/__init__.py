"""Attention on tensors: two products with a softmax between them become one operation.

`places.py` follows the places of elements through reshapes, `chain.py` finds the operations,
`merge.py` makes one of them. What attention is, pipelines/schedules/attention/reading.py says.
"""

"""Sums of products on tensors that hirc's kernels compute, in the form that fusion works on."""

"""Sums of products on tensors that kernels of ours compute, in the form that fusion works on."""

"""Attention in one kernel: softmax(f(Q K^T)) V without a matrix of scores in memory."""

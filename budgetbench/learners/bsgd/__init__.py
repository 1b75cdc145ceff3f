"""Budgeted stochastic gradient descent, and what it does with the point that is one too many."""

"""Budgeted Passive-Aggressive learning: who leaves is made up for by those who stay."""

"""Nearest neighbours among selected examples."""

"""Learners with a score for each class."""

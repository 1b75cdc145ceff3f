"""Learners that project examples onto the span of the stored ones."""

"""The support vector machine and its solver."""

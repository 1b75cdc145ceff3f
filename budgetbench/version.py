"""The version, alone in its file so that packaging reads it without importing the rest."""

__version__ = "0.2.0"

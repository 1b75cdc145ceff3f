"""The report: one HTML page with verdicts, figures, tables, configurations and provenance, complete in itself."""

from __future__ import annotations

from budgetbench.report.writer import render, write_report

__all__ = ["render", "write_report"]

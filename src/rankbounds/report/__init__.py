"""The report: one page that shows what scores of runs say, and how sure one can be of it.

``gather`` computes everything with the functions that the command line uses, ``page`` makes one file of it.
"""

from __future__ import annotations

from rankbounds.report.content import Choices, gather, gather_scores
from rankbounds.report.page import page

__all__ = ["Choices", "gather", "gather_scores", "page"]

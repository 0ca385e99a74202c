"""Make the report: one page that shows what scores of runs say, and how sure one can be.

``rankbounds.report(qrels, runs)`` makes one, from files or from memory, and a notebook shows it. Behind it, ``gather``
computes everything with the functions that the command line uses, and ``page`` makes one file of it.
"""

from __future__ import annotations

import sys
from types import ModuleType

from rankbounds.calls import ends_in_a_sentence
from rankbounds.report.content import Choices, gather, gather_scores
from rankbounds.report.page import Report, page, report


class _RoomAndFunction(ModuleType):
    """A room with the name of what it makes: it can be called."""

    __call__ = staticmethod(ends_in_a_sentence(report))


sys.modules[__name__].__class__ = _RoomAndFunction

__all__ = ["Choices", "Report", "gather", "gather_scores", "page", "report"]

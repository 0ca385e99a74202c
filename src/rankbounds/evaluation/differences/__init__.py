"""Bounds of the difference between two runs over all judgments, one function for each kind of argument.

A document that two runs share has one grade in both, so their difference is known far better than their scores. Topics
are judged independently: the bounds of a mean are the means of the topics' bounds, and exact where those are. Each
argument computes how large A - B can be; the least value is the same question with the runs swapped.
"""

from rankbounds.evaluation.differences.bounds import DifferenceBounds, difference_bounds
from rankbounds.evaluation.differences.shared_lists import SharedLists

__all__ = ["DifferenceBounds", "SharedLists", "difference_bounds"]

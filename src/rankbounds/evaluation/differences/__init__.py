"""Bounds of the difference between two runs over all judgments, one function for each kind of argument.

Two runs share unjudged documents, and a document has one grade in both. So the difference of two scores is known far
better than the two scores. ``bounds`` holds its least and greatest value over all judgments that the unjudged documents
of either list can get, per topic and for the mean.

Topics are judged independently, so the bounds of a mean are the means of the topics' bounds, and exact where those are.
Each argument computes how large A - B can be; the least value is the same question with the runs swapped.
"""

from rankbounds.evaluation.differences.bounds import DifferenceBounds, difference_bounds
from rankbounds.evaluation.differences.shared_lists import SharedLists

__all__ = ["DifferenceBounds", "SharedLists", "difference_bounds"]

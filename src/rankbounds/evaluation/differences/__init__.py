"""What unjudged documents leave open of the difference between two runs, one function for each kind of argument.

Two runs share unjudged documents, and a document has one value in both. So the difference of two scores is known far
better than the two scores are: ``bounds`` holds its least and its greatest value over all judgments that the unjudged
documents of either list can get, topic by topic and for the mean.

Topics are judged independently of each other. So the bounds of a mean are the means of the topics' bounds, and exact
where those are. Everything here asks one question, how large A - B can be; how small it can be is the same question
with the two runs in the other order.
"""

from rankbounds.evaluation.differences.bounds import DifferenceBounds, difference_bounds
from rankbounds.evaluation.differences.shared_lists import SharedLists

__all__ = ["DifferenceBounds", "SharedLists", "difference_bounds"]

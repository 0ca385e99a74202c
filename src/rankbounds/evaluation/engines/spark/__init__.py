"""The same scoring on Spark: tasks read, join, rank and score, and the scores of topics stay distributed.

``evaluation`` is the way in, and ``sources`` what may be handed over. Tasks open files themselves where they can
(``file_parts``), and take rows from Spark where they cannot (``row_pieces``). A list that is whole where it stands is
scored there (``whole_lists``); only where lists are torn apart are rows brought together by topic (``packed_rows``,
``scoring``). The driver keeps sums (``lists``), from which ``scores`` has means, bounds, variances and comparisons.
"""

from rankbounds.evaluation.engines.spark.evaluation import evaluate
from rankbounds.evaluation.engines.spark.scores import PairedSums, SparkScores
from rankbounds.evaluation.engines.spark.session import session_here

__all__ = ["PairedSums", "SparkScores", "evaluate", "session_here"]

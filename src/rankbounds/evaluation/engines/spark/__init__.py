"""The same scoring on Spark: runs and judgments are brought together by topic, and every task scores its topics.

Rows of runs and judgments go through one shuffle by topic, sorted by topic within each partition, so that a task holds
some topics at a time however large its partition is. Scores of topics stay distributed; means, bounds and variances
come from sums that Spark merges. Ties across partitions, runs that are missing from some of them and rows that stand
twice in different ones need no care of their own: all rows of a topic meet in one task.

``frames`` scores Spark frames and ``files`` paths. What tasks do is in ``segments`` (pack rows), ``local_files`` (read
files of this machine) and ``scoring``; what they find is put together in ``scores``.
"""

from rankbounds.evaluation.engines.spark.files import evaluate_files
from rankbounds.evaluation.engines.spark.frames import evaluate
from rankbounds.evaluation.engines.spark.scores import SparkScores
from rankbounds.evaluation.engines.spark.session import session_here

__all__ = ["SparkScores", "evaluate", "evaluate_files", "session_here"]

"""Scoring on Spark: tasks read, join, rank and score whole topics; the driver holds judgments and scores.

``evaluation`` is the entry point, ``sources`` reads inputs, and ``tasks`` starts Spark and runs on the workers.
"""

from rankbounds.evaluation.engines.spark.evaluation import score
from rankbounds.evaluation.engines.spark.tasks import session_here

__all__ = ["score", "session_here"]

"""Scoring on Spark: tasks read, join, rank and score whole topics; the driver holds judgments and scores.

``evaluation`` is the entry point, ``sources`` reads inputs, ``tasks`` runs on the workers, and ``session`` starts Spark
and words its errors.
"""

from rankbounds.evaluation.engines.spark.evaluation import score
from rankbounds.evaluation.engines.spark.tasks import session_here

__all__ = ["score", "session_here"]

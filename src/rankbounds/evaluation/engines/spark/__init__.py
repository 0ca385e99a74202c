"""The same scoring on Spark: tasks read, join, rank and score whole topics; the driver holds judgments and scores.

``evaluation`` is the way in, ``sources`` knows what may be handed over, ``tasks`` is what runs on Spark's machines, and
``session`` starts Spark and words its errors.
"""

from rankbounds.evaluation.engines.spark.evaluation import evaluate
from rankbounds.evaluation.engines.spark.session import session_here

__all__ = ["evaluate", "session_here"]

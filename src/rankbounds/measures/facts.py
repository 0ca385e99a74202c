"""Facts that measures declare about themselves, as class attributes.

Bounds, best and worst orders of ties, labels, and which questions apply to a measure are derived from them once for all
measures, and law tests check every fact by enumeration. More follows from base classes: a ``RankWeighted`` is a sum
over ranks of fixed weights times worth, an ``IdealRatio`` is such a sum over that of the ideal ranking.
"""

from __future__ import annotations

from math import inf
from typing import ClassVar, Literal, TypeAlias

Exactness: TypeAlias = Literal["exact", "outer", "unknown"]
Total: TypeAlias = Literal["mean", "sum", "geometric"]
Outside: TypeAlias = Literal["lowers", "raises", "either"]
Averaged: TypeAlias = Literal["documents", "precisions"]


class Facts:
    """The facts that a measure may declare, with their defaults."""

    # How it is written.

    name: ClassVar[str]
    """Its name in labels: that of the class, if another is not given."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names that people know it by."""
    examples: ClassVar[tuple[str, ...]]
    """Labels that show its parameters; the law tests run on these. A class without them is something to derive from."""
    example: ClassVar[tuple[str, float] | tuple[str, float, str] | None] = None
    """What the docstring shows: an expression such as ``"P @ 2"``, its value, and which data, if not the usual ones."""
    trec_names: ClassVar[tuple[str, ...]] = ()
    """trec_eval's names, such as ``"P_{cutoff}"``; a parameter in braces stands for its value."""
    trec_defaults: ClassVar[dict[str, str]] = {}
    """What a trec_eval name without these parameters stands for, where that differs from our defaults."""
    sources: ClassVar[tuple[str, ...]] = ()
    """What to cite for it: keys of ``naming/sources.bib``; none where it comes from a program, or is a count."""
    takes: ClassVar[tuple[str, ...]] = ()
    """Which of the parameters that every measure knows users may choose, behind its own: ``rel``, ``cutoff``."""
    needs_cutoff: ClassVar[bool] = False
    """Without a depth it has no meaning. This is checked where a measure is used: ``P(rel=2) @ 10`` can be written."""
    always_shown: ClassVar[tuple[str, ...]] = ()
    """Parameters that labels show even where they have their default value."""

    # What the formula promises. Where lower is better, "never lowers" reads "never raises".

    monotone: ClassVar[bool] = False
    """Turning a document relevant never lowers the value: bounds are the values of two fillings."""
    promotable: ClassVar[bool] = True
    """Moving a worthier document up never lowers the value: ordering ties by worth gives best and worst."""
    multilinear: ClassVar[bool] = False
    """The value at mean relevance is the mean value, for documents relevant independently of each other."""
    lower_is_better: ClassVar[bool] = False
    """The value counts effort."""
    value_range: ClassVar[tuple[float, float]] = (-inf, inf)
    """Between which numbers every value lies: no interval and no bound reaches beyond them."""
    sums_precisions: ClassVar[bool] = False
    """It is in proportion to the sum of the precisions at relevant documents, down to its depth."""
    averaged: ClassVar[Averaged | None] = None
    """What is averaged over all relevant documents of the topic: whether each is found, or its precision."""

    # What the value depends on.

    graded: ClassVar[bool] = False
    """Gains count, not only whether a document is relevant."""
    list_only: ClassVar[bool] = False
    """The value is settled by the list alone, not by what else is relevant to the topic."""
    judged_only: ClassVar[bool] = False
    """Unjudged documents are dropped before the value is computed: no rule can make them count for anything."""
    as_retrieved: ClassVar[bool] = False
    """The value describes the list as it was retrieved, whatever is assumed of unjudged documents."""
    reads_judgments: ClassVar[bool] = False
    """The value needs more of a document's judgments than its grade: for which subtopics, from which stratum."""
    reads_preferences: ClassVar[bool] = False
    """The value needs to know which documents are preferred to which, and of grades nothing else."""
    order_free: ClassVar[bool] = False
    """In whatever order the documents stand, the value is the same."""
    topic_only: ClassVar[bool] = False
    """The value is the topic's, whatever the list: two judged lists never differ by it."""
    estimates: ClassVar[bool] = False
    """The value guesses what judgments would say: nothing bounds it."""
    outside: ClassVar[Outside] = "either"
    """Relevant documents that the list lacks never raise the value, never lower it, or may do either."""
    vanishes: ClassVar[bool] = False
    """It comes as close to 0 as one likes when ever more relevant documents exist that the list lacks."""

    # What is known of its bounds, and how topics are summed up.

    difference_argument: ClassVar[str] = "any_measure"
    """The method of ``RetrievedArguments`` (evaluation/differences/bounds.py) that bounds differences of two lists."""

    exactness: ClassVar[Exactness] = "exact"
    """Whether ``bounds`` are attained, hold but may be wider than needed, or are not known at all."""
    collection_exactness: ClassVar[Exactness] = "unknown"
    """The same of bounds that cover relevant documents nobody retrieved, where these matter (not ``list_only``)."""
    has_residual: ClassVar[bool] = False
    """Documents beyond the end of the list count as unknown, so that ``high - low`` has named parts."""
    tail_adds: ClassVar[bool] = True
    """What lies beyond the list adds the same to the value, whatever the list holds."""
    total: ClassVar[Total] = "mean"
    """What stands for all topics together; ``geometric``: values are logarithms, and the mean is taken out of them."""

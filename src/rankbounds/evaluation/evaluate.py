"""Score runs against judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from rankbounds.collection.preparation import Preparation
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.options import EvaluateOptions, check_no_measures, chosen_options, shows_options
from rankbounds.evaluation.scores import Origin, Scores
from rankbounds.evaluation.scoring import Scoring, score_runs
from rankbounds.measures import parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import Unpack

DEFAULT_MEASURES = ("nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR")

ENGINE_OPTIONS: dict[str, frozenset[str]] = {
    "local": frozenset({"threads", "progress", "observe"}),
    "stream": frozenset({"threads", "progress", "memory"}),
    "spark": frozenset({"master"}),
}
OF_ENGINES = ("progress", "observe", "memory", "master")


@shows_options(EvaluateOptions)
def evaluate(
    qrels: QrelsLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    engine: Literal["local", "stream", "spark"] = "local",
    **options: Unpack[EvaluateOptions],
) -> Scores:
    """Score one run or many against judgments.

    Parameters
    ----------
    qrels : path, Qrels, dict, frame or rows
        The judgments: a file (``"-"`` is standard input, ``"ir_datasets:ID"`` a data set of that package), ``Qrels``,
        ``{query: {document: grade}}``, ``{query: {document, ...}}`` (relevant documents), a pandas, polars or pyarrow
        frame, rows ``(query, document, grade)``, or ranx's ``Qrels``. Rows with one question each that list expected
        and retrieved documents (``expected_ids`` and ``retrieved_ids``, or other tools' names for them) are judgments
        and a run at once, also in files.
    runs : path, Run, dict, frame, rows, or several of them
        A run: a file, ``Run``, ``{query: {document: score}}``, ``{query: [document, ...]}`` (in ranked order),
        ``{query: [(document, score), ...]}``, a frame, rows ``(query, document, score)``, rows that list the documents
        of a question, a matrix of scores (queries x documents), or ranx's ``Run``. Several: patterns and folders, a
        list, a dict by name, or a frame with a column ``run``. None where ``qrels`` holds both lists.
    measures : str, Measure, or iterable of them
        Such as ``"nDCG@10"``, ``"RBP(p=0.8)"``, ``"map"`` (trec_eval's names), ``rb.AP()``.
    ties : str, default "trec"
        How documents of equal score are ranked: ``"trec"`` (document id down, as trec_eval), ``"run"`` (line order,
        scores ignored), ``"line"`` (line order among equal scores), ``"rank"`` (stated rank), ``"stated"`` (stated
        rank alone, scores ignored), ``"docid"`` (document id up), ``"key"`` (rising value of ``ties_key``),
        ``"best"``, ``"worst"``, ``"expected"`` (mean over all orders).
    ties_key : mapping or path, optional
        ``{document: value}``, or a file of such lines; implies ``ties="key"``.
    unjudged : str, default "nonrelevant"
        What unjudged documents count for: ``"nonrelevant"``, ``"relevant"``, ``"condensed"`` (they are left out),
        ``"expected"`` (relevant with the probability ``q``).
    q : float, optional
        The probability that an unjudged document is relevant.
    bounds : str, default "unjudged"
        What ``low`` and ``high`` cover: ``"unjudged"`` documents, ``"ties"``, ``"both"``, or ``"none"``.
    gain : str or mapping, optional
        The gain of each grade: ``"linear"`` (the grade; default), a table like ``"1=3,2=9"`` or ``{1: 3, 2: 9}``, or
        one for grades that are words, ``"S=3,A=2,B=1"``.
    topics : str, default "judged"
        ``"judged"`` scores every judged topic, and counts one that a run lacks as an empty list; ``"shared"`` scores
        only the topics of the run.
    score_precision : str, default "double"
        Scores are compared in ``"double"`` or, as trec_eval 9 does, in ``"single"`` precision.
    open : str, default "retrieved"
        Which unjudged documents ``low`` and ``high`` cover: those that the run ``"retrieved"``, or those of the whole
        ``"collection"``, where relevant documents elsewhere lower nDCG, AP, recall and the like.
    most_relevant : int, optional
        With ``open="collection"``: how many relevant documents a topic may have in the whole collection, including the
        known ones. Without it there may be any number, and the ``low`` of AP, recall and nDCG without a depth is 0.
    source : str or sequence of str, optional
        Whose judgments to use, by the column ``source``: ``"human"``, or ``"human,llm"`` for the first that exists.
    raters : {"mean", "majority", "first"}, optional
        How several people's judgments of a document become one (of a tie the lowest grade); by default an error.
    complete : bool, default False
        No relevant document is missing from the judgments: what they do not list is judged non-relevant.
    same_as : path or lists of ids, optional
        Groups of ids of the same document (a file has a group per line): the first stands for all, in judgments and
        runs. Of its grades the highest counts, of its places in a list the first.
    formats : str or pair of str, optional
        The format of all files, or of the judgments and of the runs; by default recognised from their contents.
    columns : mapping, optional
        The columns of tables with other names: ``{"qrels.query_id": "q", "doc_id": "d", "score": "s"}``, a plain
        name for all files; also ``relevance, rank, source, run``, and ``expected``, ``retrieved`` for rows with lists.
    lenient : bool, default False
        Leave out unusable lines, and warn with their number.
    query_ids, doc_ids : sequence of str, optional
        The ids of rows and columns of a matrix of scores (NumPy, torch, or anything with ``__array__`` or
        ``__dlpack__``), of which the best 1,000 documents per query count, and all tied with the last. ``query_ids``
        are also those of a list of lists of hits.
    preparation : Preparation, optional
        What is done to every run before scoring (``prepare``).
    threads : int, optional
        How many threads to use at most; by default one per processor.
    progress : callable, optional
        Called with the numbers of runs scored so far and in all.
    observe : callable, optional
        Called with the number of a run and each batch of its rankings, from several threads, to compute more from
        the lists without reading the runs twice.
    engine : {"local", "stream", "spark"}, default "local"
        Where the work is done: in memory; ``"stream"`` for runs larger than memory, topic by topic; ``"spark"`` by
        Spark, which also takes its own frames and paths on its file systems.
    memory : int or str, optional
        With ``engine="stream"``: how much to hold at a time, such as ``"512M"``.
    master : str, optional
        With ``engine="spark"``: the cluster, such as ``"spark://host:7077"``, where no session of Spark runs yet.

    Returns
    -------
    Scores
        ``value``, ``low`` and ``high`` for each run, topic and measure.

    Notes
    -----
    Inputs are never changed. ``low`` and ``high`` are bounds over missing judgments (or ties); they contain no
    randomness. ``Scores.outer`` names measures whose bounds are safe but may be wider than necessary.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> runs = {"bm25": {"q1": ["b", "a"], "q2": ["c"]}, "dense": {"q1": ["a", "x"], "q2": ["x", "c"]}}
    >>> scores = rb.evaluate(qrels, runs, ["RR", "P@2"])
    >>> print(scores.render("csv"), end="")
    run,query_id,measure,value,low,high,ci_low,ci_high,judged_at_10
    bm25,all,RR,0.75,0.75,0.75,0.0102...,0.9988...,1.0
    bm25,all,P@2,0.5,0.5,0.5,0.0790...,0.9209...,1.0
    dense,all,RR,0.75,0.75,1.0,0.0102...,0.9988...,0.5
    dense,all,P@2,0.5,0.5,1.0,0.0790...,0.9209...,0.5

    Rows with two lists, as RAG frameworks keep them:

    >>> rows = [
    ...     {"question": "who?", "retrieved_ids": ["d1", "d2", "d9"], "expected_ids": ["d1", "d9"]},
    ...     {"question": "when?", "retrieved_ids": ["d7", "d4"], "expected_ids": ["d4"]},
    ... ]
    >>> rb.evaluate(rows, measures=["Recall@2", "RR"]).mean().value.tolist()
    [[[0.75, 0.75]]]
    """
    _check_engine(engine, options)
    own: dict[str, Any] = {**options}
    preparation = own.pop("preparation", None)
    progress, observe, memory, master = (own.pop(name, None) for name in OF_ENGINES)
    assumptions, reading = chosen_options(own, threads=1 if engine == "spark" else None)
    if isinstance(runs, str | list | tuple) and runs and isinstance(runs[0], str):
        check_no_measures(runs)
    if reading.same_as is not None:
        preparation = replace(preparation or Preparation(), same_as=reading.same_as)
    scoring = Scoring(parse_measures(measures), assumptions, reading.threads, preparation or Preparation())
    assumptions.check(scoring.measures, in_memory=engine == "local")
    if engine != "local" and runs is None:
        raise UsageError(f'Rows that are judgments and run at once are read in memory, not with engine="{engine}".')
    if engine == "spark" and runs is not None:
        from rankbounds.evaluation.engines import spark

        return spark.score(qrels, runs, scoring, reading, master)
    if engine == "stream" and runs is not None:
        from rankbounds.evaluation.engines import streaming

        return streaming.score(qrels, runs, scoring, reading, memory, progress)
    facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
    jobs = reading.runs_to_read(runs, qrels)
    if preparation:
        jobs = [replace(job, read=partial(lambda read: preparation(read()), job.read), given=None) for job in jobs]
    scores = score_runs(facts, jobs, scoring, progress=progress, observe=observe)

    def make_origin() -> Origin:
        from rankbounds.evaluation.score_files import origin_of  # (only scores that are saved need it)

        return origin_of(facts.qrels, assumptions, preparation or Preparation())

    return replace(scores, make_origin=make_origin)


def _check_engine(engine: str, options: Mapping[str, Any]) -> None:
    if engine not in ENGINE_OPTIONS:
        known = list(ENGINE_OPTIONS)
        raise UsageError(f'There is no engine "{engine}".{did_you_mean(engine, known)} Known: {", ".join(known)}.')
    for name, value in options.items():
        takers = [f'engine="{other}"' for other, taken in ENGINE_OPTIONS.items() if name in taken]
        if takers and name not in ENGINE_OPTIONS[engine] and value is not None:
            raise UsageError(f'{name}= goes with {" or ".join(takers)}, not with engine="{engine}".')

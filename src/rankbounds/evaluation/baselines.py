"""Saved scores as a baseline for new ones, if both were made with the same judgments and settings.

Saved scores hold neither lists nor judgments. A short sum of each topic's judgments, and the settings, are saved beside
them: they say whether anything changed, and which topics.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.run import unique_names
from rankbounds.errors import DataError
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.scores import PARTS, Origin, Scores

if TYPE_CHECKING:
    from rankbounds.collection.qrels import Qrels
    from rankbounds.evaluation.assumptions import Assumptions
    from rankbounds.rankings.preparation import Preparation


def origin_of(qrels: Qrels, assumptions: Assumptions, preparation: Preparation) -> Origin:
    """By what scores of these judgments and settings are told from others."""
    unjudged = assumptions.unjudged
    settings = {
        "ties": assumptions.ties,
        "score-precision": assumptions.score_precision,
        "unjudged": unjudged.name if unjudged.q is None else f"{unjudged.name} with q = {unjudged.q:.12g}",
        "gain": str(assumptions.gain),
        "topics": assumptions.topics,
        "drop-self": preparation.drop_self,
        "documents-of": preparation.documents_of,
        "depth": preparation.depth,
    }
    return {"judgments": _sums(qrels), "settings": settings}


def _sums(qrels: Qrels) -> dict[str, str]:
    """A sum of each topic's judgments, whatever their order."""
    rows: dict[str, list[str]] = {}
    strata = qrels.strata.labels if qrels.strata is not None else [""] * len(qrels)
    documents = []
    for (query, document, grade), stratum in zip(qrels, strata, strict=True):
        rows.setdefault(query, []).append(f"{document}\0{grade!r}\0{stratum}")
        documents.append((query, document))
    if qrels.subtopics is not None:
        of_rows = qrels.subtopics
        judged = zip(of_rows.row.tolist(), of_rows.labels, of_rows.grade.tolist(), of_rows.okay.tolist(), strict=True)
        for row, subtopic, grade, okay in judged:
            query, document = documents[row]
            rows[query].append(f"{document}\0{grade!r}\0\0{subtopic}\0{okay}")
    texts = {query: "\n".join(sorted(several)).encode("utf-8", "surrogateescape") for query, several in rows.items()}
    return {query: hashlib.blake2b(text, digest_size=8).hexdigest() for query, text in texts.items()}


def join_baseline(saved: Scores, new: Scores) -> Scores:
    """Saved scores and new ones as one, with the measures and topics of the new ones, which the saved must have.

    Both must come from the same judgments and settings, where their origins are known.
    """
    _check_alike(saved, new)
    both = (saved.filter(topic=new.query_ids, measure=new.measures), new)

    def stacked(name: str) -> Floats:
        return np.concatenate([getattr(scores, name) for scores in both])

    parts = None
    if any(scores.parts is not None for scores in both):
        unknown = [np.full((len(PARTS), *scores.value.shape), np.nan) for scores in both]
        known = [blank if scores.parts is None else scores.parts for scores, blank in zip(both, unknown, strict=True)]
        parts = np.concatenate(known, axis=1)
    relevant_nowhere = {topic for scores in both for topic in scores.without_relevant}
    return replace(
        new,
        runs=unique_names([*saved.runs, *new.runs], ["saved"] * len(saved.runs) + ["new"] * len(new.runs)),
        value=stacked("value"),
        low=stacked("low"),
        high=stacked("high"),
        judged=stacked("judged"),
        notes=[noted for scores in both for noted in scores.notes],
        without_relevant=[name for name in new.query_ids if name in relevant_nowhere],
        outer=[measure for measure in new.measures if any(measure in scores.outer for scores in both)],
        parts=parts,
    )


def _check_alike(saved: Scores, new: Scores) -> None:
    """Refuse to compare what was made otherwise, and say what changed."""
    if set(saved.query_ids) != set(new.query_ids):
        raise DataError("The two sets of scores are on different topics; they cannot be compared.")
    lacking = [measure for measure in new.measures if measure not in saved.measures]
    if lacking:
        raise DataError(f"The saved scores lack {lacking[0]}. Save them again with this measure.")
    if saved.bounds != new.bounds:
        raise DataError(
            f"The saved scores have other bounds ({saved.bounds}) than these ({new.bounds}). Save them again with "
            f"--bounds {new.bounds}."
        )
    if (saved.open, saved.most_relevant) != (new.open, new.most_relevant):
        raise DataError(
            f"The bounds of the saved scores cover other documents ({_open_words(saved)}) than these "
            f"({_open_words(new)}). Save them again with the same --open and --most-relevant."
        )
    if saved.origin is not None and new.origin is not None:
        _check_origins(saved.origin, new.origin)


def _open_words(scores: Scores) -> str:
    limit = "" if scores.most_relevant is None else f", {scores.most_relevant} relevant at most"
    return f"{scores.open}{limit}"


def _check_origins(saved: Origin, new: Origin) -> None:
    changes = [
        f"--{name} was {_words(saved['settings'].get(name))} and is {_words(value)}"
        for name, value in new["settings"].items()
        if saved["settings"].get(name) != value
    ]
    before, now = saved["judgments"], new["judgments"]
    changed = [topic for topic, total in now.items() if before.get(topic) != total]
    changed += [topic for topic in before if topic not in now]
    if changed:
        changes.append(f"the judgments of {len(changed)} of {len({*before, *now})} topics changed ({some(changed)})")
    if changes:
        raise DataError(
            f"The saved scores cannot be compared with these: {'; '.join(changes)}. Save them again with the same "
            "judgments and options, or give the baseline's run in place of its scores."
        )


def _words(value: Any) -> str:
    return "not given" if value is None or value is False else "given" if value is True else str(value)

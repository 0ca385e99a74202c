"""What scores were made with, short enough to be saved beside them: the judgments of every topic, and the settings.

Two runs can be compared only by the same judgments and settings. Saved scores hold neither lists nor judgments, so that
a short sum of each topic's judgments says whether they are still the same, and which topics changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankbounds.errors import DataError
from rankbounds.evaluation.run_notes import some

if TYPE_CHECKING:
    from rankbounds.collection.qrels import Qrels
    from rankbounds.evaluation.assumptions import Assumptions
    from rankbounds.rankings.preparation import Preparation

Origin = Mapping[str, Mapping[str, Any]]
"""``judgments``: a sum for each topic; ``settings``: by the name of the option, what it was."""
_BYTES = 8


def origin_of(qrels: Qrels, assumptions: Assumptions, preparation: Preparation) -> Origin:
    """What scores by these judgments and settings are to be told apart by."""
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


def check_same_origin(saved: Origin, new: Origin) -> None:
    """Refuse to compare what was made with other judgments or settings, and say what changed."""
    told = [
        f"--{name} was {_words(saved['settings'].get(name))} and is {_words(value)}"
        for name, value in new["settings"].items()
        if saved["settings"].get(name) != value
    ]
    before, now = saved["judgments"], new["judgments"]
    changed = [topic for topic, total in now.items() if before.get(topic) != total]
    changed += [topic for topic in before if topic not in now]
    if changed:
        told.append(f"the judgments of {len(changed)} of {len({*before, *now})} topics changed ({some(changed)})")
    if told:
        raise DataError(
            f"The saved scores cannot be compared with these: {'; '.join(told)}. Save them again with the same "
            "judgments and options, or give the baseline's run in place of its scores."
        )


def _words(value: Any) -> str:
    return "not given" if value is None or value is False else "given" if value is True else str(value)


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
    return {
        query: hashlib.blake2b(
            "\n".join(sorted(several)).encode("utf-8", "surrogateescape"), digest_size=_BYTES
        ).hexdigest()
        for query, several in rows.items()
    }

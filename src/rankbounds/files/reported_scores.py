"""Scores that another tool reported for one run, means or per topic, as text with all digits.

Formats: the lines of trec_eval and of ir_measures, JSON of pytrec_eval (``{query: {measure: score}}``), ranx (means,
``run.scores``, its report), BEIR (the dicts of means) and MTEB (its results), tables of scores by topic (CSV, TSV,
Parquet), and ``measure=number``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from rankbounds.errors import DataError
from rankbounds.files.json_formats import is_mteb_scores
from rankbounds.files.opening import PARQUET_MAGIC, read_content
from rankbounds.files.records import filled_lines, is_number, parse_json
from rankbounds.files.score_tables import (
    ALL,
    TEXT_ROWS,
    IsMeasure,
    is_ranx_report,
    mostly,
    no_line_of_trec_eval,
    read_score_table,
)

Printed = dict[tuple[str, str], str]
"""The scores as text, by the tool's name of the measure and by topic; ``all`` is the mean."""
ANY_MEASURE = ""
"""The name of a measure that is not named."""
_NUMBER = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?|\.\d+)(?P<percent>%?)")


def stated(text: str) -> Printed | None:
    """Return the score in ``nDCG@10=0.534``, ``nDCG@10=53.4%`` or ``0.534``; None without one."""
    measure, equals, written = text.strip().rpartition("=")
    match = _NUMBER.fullmatch(written)
    if match is None or bool(equals) != bool(measure) or os.path.exists(text):
        return None
    number = Decimal(match["number"])
    if match["percent"]:
        number = number.scaleb(-2)
    return {((measure or ANY_MEASURE).strip(), ALL): format(number, "f")}


def read_reported(path: str | os.PathLike[str], is_measure: IsMeasure) -> Printed:
    """Read the scores in a file that another tool wrote for one run."""
    file = os.fspath(path)
    read = read_content(file)
    if read.starts_with(PARQUET_MAGIC):
        return _read_table(file, is_measure)
    text = read.text()
    content = text.tobytes().decode("utf-8", "replace")
    if content.lstrip()[:1] in ("{", "["):
        return reported(parse_json(content, text.name), is_measure, text.name)
    lines = list(filled_lines(content, text.name))
    first = next((line for _, line in lines if line.split()[:2] != ["runid", ALL]), "")  # trec_eval's first is the name
    if "," in first or ("\t" in first and not any(map(_is_score_text, first.split()))):
        return _read_table(file, is_measure)
    printed: Printed = {}
    for place, line in lines:
        fields = line.split()
        if fields[0] in TEXT_ROWS:
            continue
        if len(fields) not in (2, 3) or (len(fields) == 2 and not _is_score_text(fields[1])):
            raise no_line_of_trec_eval(place, len(fields))
        name, topic, value = fields if len(fields) == 3 else (fields[0], ALL, fields[1])
        if is_measure(topic) and not is_measure(name):  # ir_measures -q prints the topic first
            name, topic = topic, name
        if (name, topic) in printed:
            problem = f'"{name}" of topic "{topic}" is listed twice.'
            raise DataError(place, problem, "Give the output for one run.")
        printed[name, topic] = value
    if not printed:
        raise DataError(text.name, "the file has no line of data.")
    return printed


def _is_score_text(text: str) -> bool:
    return is_number(text) and not math.isnan(float(text))


def _read_table(path: str, is_measure: IsMeasure) -> Printed:
    """Scores by topic in a table with named columns."""
    table = read_score_table(path, is_measure)
    if isinstance(table, Mapping):
        raise DataError(path, "these are scores that rankbounds saved.", "Give what another tool reported.")
    run = _only(list(dict.fromkeys(run for run, _, _ in table.cells)), "runs", path)
    scores = {(measure, query): value for (_, query, measure), (value, _, _) in table.cells.items()}
    return _with_digits(scores | {(measure, ALL): value for (of, measure), value in table.means.items() if of == run})


def reported(content: Any, is_measure: IsMeasure, source: str = "the scores") -> Printed:
    """Read JSON or Python objects: nested dicts, or a list of them."""
    if isinstance(content, Mapping) and content and all(isinstance(key, tuple) for key in content):
        return {(str(name), str(topic)): str(value) for (name, topic), value in content.items()}
    scores = dict(_cells(content, is_measure, source))
    if not scores:
        raise DataError(
            source,
            "the file has no score in a known format.",
            "Known formats: {measure: mean}, {query: {measure: score}}, {measure: {query: score}}, BEIR's and MTEB's "
            "results, ranx' report.",
        )
    return _with_digits(scores)


def _with_digits(scores: Mapping[tuple[str, str], float]) -> Printed:
    """Numbers lose trailing zeros, so all scores of a file get the digits of the longest."""
    exact = {key: Decimal(repr(float(value))) for key, value in scores.items()}
    digits = max(max(0, -int(number.as_tuple().exponent)) for number in exact.values())
    return {key: f"{number:.{digits}f}" for key, number in exact.items()}


def _cells(content: Any, is_measure: IsMeasure, source: str) -> Iterable[tuple[tuple[str, str], float]]:
    if isinstance(content, list | tuple):  # what BEIR's evaluate returns
        for part in content:
            yield from _cells(part, is_measure, source)
        return
    if not isinstance(content, Mapping):
        return
    if is_mteb_scores(content) and isinstance(content["scores"], Mapping):
        content = _only([part for split in content["scores"].values() for part in split], "subsets or splits", source)
        content = {name: value for name, value in content.items() if not name.startswith(("nauc_", "main_score"))}
    elif is_ranx_report(content):
        content = content[_only(list(content["model_names"]), "runs", source)]["scores"]
    yield from (((str(name), ALL), value) for name, value in content.items() if _is_score(value))
    nested = {str(name): inner for name, inner in content.items() if isinstance(inner, Mapping)}
    inner_names = {str(name) for inner in nested.values() for name in inner}
    of_measures, of_inner = (mostly(names, is_measure) for names in (nested, inner_names))
    for outer, inner in nested.items():
        for name, value in inner.items():
            if _is_score(value):
                topic = ALL if of_measures and of_inner else outer
                yield ((outer, str(name)) if of_measures and not of_inner else (str(name), topic)), value


def _only(parts: list[Any], what: str, source: str) -> Any:
    if len(parts) != 1:
        raise DataError(source, f"these are scores of {len(parts)} {what}.", "Give those of one.")
    return parts[0]


def _is_score(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False

"""trec_eval's names of measures, read and written."""

from __future__ import annotations

import re
from functools import cache

from rankbounds.measures.measure import Measure
from rankbounds.measures.naming.parameters import depth_of, parameters_of
from rankbounds.measures.naming.registry import REGISTRY, is_name


@cache
def _template_pattern(template: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)(?::[^}]*)?\}", template)
    return re.compile(
        "".join(f"(?P<{piece}>[0-9.]+)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces)),
        re.IGNORECASE,
    )


def from_trec_name(name: str) -> Measure | None:
    """The measure that trec_eval calls so. Case counts only where the name is one of ours too (``rbp``, ``RBP``)."""
    for measure in REGISTRY.values():
        for template in measure.trec_names:
            if not name.lower().startswith(template.partition("{")[0].lower()):
                continue
            match = _template_pattern(template).fullmatch(name)
            if match and (not is_name(name) or name in measure.trec_names):
                given = match.groupdict()
                cutoff = {"cutoff": depth_of(measure, given.pop("cutoff"))} if "cutoff" in given else {}
                return measure(**parameters_of(measure, {**measure.trec_defaults, **given}), **cutoff)
    return None


def trec_name(measure: Measure) -> str:
    """trec_eval's name of the measure, or our label where trec_eval has none."""
    for template in type(measure).trec_names:
        varied = re.findall(r"\{(\w+)", template)
        values = {name: measure.parameters[name] for name in varied}
        if None in values.values():
            continue
        name = template.format(**values)
        if from_trec_name(name) == measure:
            return name
    return str(measure)

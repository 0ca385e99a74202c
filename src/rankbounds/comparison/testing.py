"""How pairs of runs are tested, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.errors import UsageError
from rankbounds.evaluation.question import Question
from rankbounds.stats.corrections import CORRECTIONS, check_correction
from rankbounds.stats.equivalence import check_equivalence, check_margin, find_test
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import check_test, drawn_words


def check_tests(question: Question, runs: Sequence[str], more_tests: Sequence[str] = ()) -> None:
    if len(runs) < 2:
        raise UsageError("A comparison needs at least two runs.")
    check_level(question.alpha)
    check_test(question.test, question.alternative, more_tests)
    if question.alternative != "two-sided" and question.baseline is None and len(runs) > 2:
        raise UsageError("A one-sided test asks about one run: compare two runs, or name the baseline.")
    if question.margin is not None:
        check_margin(question.margin)


def correction_for(question: Question, pairs: int) -> str:
    chosen, test = question.correction, find_test(question.test)
    if chosen == "auto":
        chosen = "none" if pairs == 1 else test.correction
    else:
        check_correction(chosen)
        if chosen == "tukey" and question.baseline is not None:
            raise UsageError('Tukey\'s correction is for all pairs of runs; with a baseline take "holm" or "max-t".')
        if CORRECTIONS[chosen].resamples and question.alternative != "two-sided":
            raise UsageError(f'The correction {chosen} has two sides; for one side take "holm".')
    if not test.of_difference:
        check_equivalence(question.margin, question.alternative, chosen)
    return chosen


def level_words(settings: Mapping[str, Any]) -> str:
    """Name the level where it is not that of the intervals, which then exclude 0 at another p."""
    alike = np.isclose(settings["alpha"], 1 - settings["confidence"])
    return "" if alike else f", level {settings['alpha']:g}"


def test_names(settings: Mapping[str, Any]) -> tuple[str, str]:
    alone = find_test(settings["test"]).words.format_map(settings)
    pairs, against = settings["comparisons"], settings["baseline"]
    of_pairs = "one pair" if pairs == 1 else f"all {pairs:,} pairs" if against is None else f"{pairs:,} pairs"
    over = f"the {of_pairs} with {against}" if against is not None and pairs > 1 else of_pairs
    return CORRECTIONS[settings["correction"]].words.format(alone=alone, pairs=over), alone


def sample_words(settings: Mapping[str, Any]) -> str:
    clusters = settings.get("clusters")
    return f"{settings['topics']} topics" + (f" in {clusters} clusters" if clusters else "")


def _draws(settings: Mapping[str, Any]) -> list[str]:
    alone = find_test(settings["test"]).draws(settings)
    return list(dict.fromkeys([*alone, *[drawn_words(settings)] * CORRECTIONS[settings["correction"]].resamples]))


def method(settings: Mapping[str, Any], runs: int) -> str:
    test, (used, alone) = find_test(settings["test"]), test_names(settings)
    family, corrected = CORRECTIONS[settings["correction"]], settings["correction"] != "none"
    drawn = ", ".join([*_draws(settings), sample_words(settings)])
    of_pair = f"p: {alone} of each pair alone; p corrected: {used}" if corrected else f"p: {alone}"
    said = [f"{of_pair} ({drawn})."]
    of_means = " of a mean: Wilson's interval (t without a known range); of a difference" * (runs > 2)
    span = f"{settings['confidence']:.0%} (topics){of_means}: t interval" + " of each pair alone" * corrected
    if test.of_interval and settings["alternative"] == "two-sided":
        not_corrected = " (p, not p corrected)" * corrected
        span += f", which excludes 0 exactly where p < {1 - settings['confidence']:.2g}{not_corrected}"
    said.append(f"{span}.")
    if settings["baseline"] is None and runs > 2 and test.of_difference:
        together = "for all runs at once" if family.family_wise else "not corrected for several runs"
        said.append(f"rank: with its {1 - settings['alpha']:.0%} interval, {together}.")
    if not test.of_mean and test.level:
        said.append(f"Measured at 5%, the {alone} finds a difference between equal means in {test.level}.")
    if family.resamples and family.level:
        said.append(
            f"Measured at 5%, {settings['correction']} finds some difference among equal means in {family.level}."
        )
    return " ".join([*said, *filter(None, [cannot_succeed(settings)])])


def cannot_succeed(settings: Mapping[str, Any]) -> str:
    test, count = find_test(settings["test"]), settings["clusters"] or settings["topics"]
    family, alpha, resamples = CORRECTIONS[settings["correction"]], settings["alpha"], settings["resamples"]
    least = test.smallest_p(np.array([count]), count, settings["alternative"], resamples)
    if least is None or family.resamples:
        return ""
    corrected = settings["correction"] != "none"
    times = settings["comparisons"] if corrected else 1
    if least[0] * times < alpha:
        return ""
    none = f"no {'corrected ' * corrected}p can be below {alpha:g}"
    if test.resamples and count > test.exact_topics and times >= alpha * (resamples + 1):
        more = f"use more than {times / alpha:,.0f} (--resamples), or the t test"
        return f"With {resamples:,} resamples, {none}: {more}."
    units = "clusters" if settings["clusters"] else "topics"
    return f"With {count} {units}, {none} by the {test.name} test, whatever the scores: use more {units}."


def tested_words(settings: Mapping[str, Any], runs: int) -> str:
    clusters = settings.get("clusters")
    parts = [
        test_names(settings)[0],
        *_draws(settings),
        *([f"{clusters} clusters of topics"] if clusters else []),
        *(["one-sided"] if settings["alternative"] != "two-sided" else []),
        *(["one pair" if runs == 2 else "not corrected"] if settings["correction"] == "none" else []),
        f"level {settings['alpha']:g}",
    ]
    return ", ".join(parts)

"""Queries that come in clusters: paraphrases of one need, turns of one conversation, repeats of one item.

Queries of one cluster rise and fall together, so the clusters are the random sample, and the mean stays that over all
queries. Differences become sums over clusters, scaled to keep the mean: in simulations with clusters of 1 to 10 queries
the t test on these sums rejects 4 to 5% of true differences of 0 at the level 5%. For one system's mean, which is not
0, unequal sizes alone would spread the sums, so it uses residuals of the ratio estimate with degrees of freedom for
unequal sizes; in simulations its 95% intervals cover 90 to 97%.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.score_differences import TOLERANCE, drop_rounding, merge_equal
from rankbounds.files.queries import is_mark, labels_by_prefix, labels_of, read_query_labels
from rankbounds.phrases import some

ClustersLike: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
"""The cluster of every query, a file of them (lines of query and cluster, or a CSV with a header), or the mark, such as
``_``, that ends the part of a query's id that is its cluster."""
MANY_PREFIXES = 5
"""Ids with fewer different prefixes do not look like clusters."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which topics belong together."""

    number: Ints
    names: list[str]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.number, minlength=len(self))

    def of_queries(self, query_ids: Sequence[str]) -> dict[str, str]:
        return {query: self.names[at] for query, at in zip(query_ids, self.number.tolist(), strict=True)}

    def sum_differences(self, differences: Floats) -> Floats:
        """Sum each cluster's differences (last axis: topics), scaled to keep their mean, without rounding errors."""
        scale = self._sum(np.abs(differences))
        sums = drop_rounding(self._sum(differences), scale)
        return np.copysign(merge_equal(np.abs(sums), scale), sums) * (len(self) / self.number.size)

    @property
    def weights(self) -> Floats:
        """How much each cluster counts: its size, scaled so that the mean is 1."""
        return self.sizes * (len(self) / self.number.size)

    def spread_means(self, values: Floats) -> tuple[Floats, Ints]:
        """Give each cluster a number whose mean is that over topics and whose spread is that of the mean's error.

        NaN marks a topic that does not count; a cluster of such topics is NaN. Also returns the degrees of freedom: the
        number of equal clusters with as much information (Carter, Schnepel and Steigerwald 2017). One large cluster
        leaves few.
        """
        counted = ~np.isnan(values)
        sizes = self._sum(counted.astype(np.float64))
        topics, there = sizes.sum(axis=-1, keepdims=True), sizes > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(counted, values, 0.0).sum(axis=-1, keepdims=True) / topics
            apart = self._sum(np.where(counted, values - mean, 0.0)) * (there.sum(axis=-1, keepdims=True) / topics)
            alike = np.nan_to_num(topics[..., 0] ** 2 / (sizes**2).sum(axis=-1))
        return np.where(there, mean + apart, np.nan), np.maximum((alike + TOLERANCE).astype(np.int64) - 1, 1)

    def take(self, topics: Ints) -> Clusters:
        kept, number = np.unique(self.number[topics], return_inverse=True)
        return Clusters(number, [self.names[at] for at in kept.tolist()])

    def _sum(self, values: Floats) -> Floats:
        order = np.argsort(self.number, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.add.reduceat(values[..., order], starts, axis=-1)


def clusters_by_prefix(query_ids: Sequence[str], mark: str) -> dict[str, str]:
    """Cluster ids by the part before the first such mark; an id without one is its own cluster."""
    return dict(zip(query_ids, query_ids, strict=True)) | labels_by_prefix(list(query_ids), mark)["prefix"]


def resolve_clusters(given: ClustersLike | Clusters | None, query_ids: Sequence[str]) -> Clusters | None:
    """Find the clusters of queries, at least two, from a mapping or a file; None if none are given."""
    if given is None:
        return None
    found = find_clusters(given, query_ids)
    if len(found) < 2:
        raise DataError(f'All queries are in one cluster, "{found.names[0]}", but tests need at least two clusters.')
    return found


def find_clusters(given: ClustersLike | Clusters, query_ids: Sequence[str]) -> Clusters:
    if isinstance(given, Clusters):
        if given.number.size != len(query_ids):
            raise UsageError(
                f"The clusters are for {given.number.size} queries, but there are {len(query_ids)} queries."
            )
        return given
    of_query = _labels(given, query_ids)
    lacking = [query for query in query_ids if query not in of_query]
    if lacking:
        raise DataError(
            f"{len(lacking)} of {len(query_ids)} queries have no cluster ({some(lacking)}). Give every query a "
            "cluster; a query unrelated to the others is its own cluster."
        )
    names, number = np.unique([of_query[query] for query in query_ids], return_inverse=True)
    return Clusters(number, names.tolist())


def _labels(given: Any, query_ids: Sequence[str]) -> dict[str, str]:
    if isinstance(given, str) and is_mark(given):
        return clusters_by_prefix(query_ids, given)
    if isinstance(given, Mapping):
        ways = labels_of(given, "cluster", "clusters")
    elif isinstance(given, str | os.PathLike):
        ways = read_query_labels(os.fspath(given))
    else:
        raise UsageError(f"Clusters are a dict {{query: cluster}} or a path, not {given!r}.")
    if len(ways) != 1:
        where = "The clusters" if isinstance(given, Mapping) else f"{os.fspath(given)}"
        raise DataError(f"{where} must have one column of clusters besides the query, not {len(ways)}.")
    return next(iter(ways.values()))


def clusters_in_ids(query_ids: Sequence[str]) -> str | None:
    """Find the mark in ids such as 31_1, 31_2, 32_1 that suggests clusters; None without one."""
    for mark in "_-/.:#":
        parts = [query.partition(mark) for query in query_ids]
        if not all(re.fullmatch(r"\w{1,4}", rest) and prefix for prefix, _, rest in parts):
            continue
        prefixes = Counter(prefix for prefix, _, _ in parts)
        recurring = Counter(rest for _, _, rest in parts).most_common(1)[0][1]
        if len(prefixes) >= MANY_PREFIXES and 2 * len(prefixes) <= len(parts) and 2 * recurring >= len(prefixes):
            return mark
    return None

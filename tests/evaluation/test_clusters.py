"""Queries in clusters: how they are found, and what becomes of the numbers of their queries."""

from __future__ import annotations

import numpy as np
import pytest

from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.clusters import Clusters, clusters_by_prefix, clusters_in_ids, resolve_clusters
from rankbounds.evaluation.mean_intervals import intervals_of_means

IDS = ["1_a", "2_a", "1_b", "3_a", "2_b", "1_c"]


def test_a_mapping_a_file_and_a_prefix_name_the_same_clusters(tmp_path):
    mapping = {query: query[0] for query in IDS}
    plain = tmp_path / "clusters.txt"
    plain.write_text("".join(f"{query} {cluster}\n" for query, cluster in mapping.items()))
    table = tmp_path / "clusters.csv"
    table.write_text("query_id,need\n" + "".join(f"{query},{cluster}\n" for query, cluster in mapping.items()))
    found = [
        resolve_clusters(mapping, IDS),
        resolve_clusters(plain, IDS),
        resolve_clusters(str(table), IDS),
        resolve_clusters(clusters_by_prefix(IDS, "_"), IDS),
    ]
    for clusters in found:
        assert clusters.names == ["1", "2", "3"]
        assert clusters.number.tolist() == [0, 1, 0, 2, 1, 0]
        assert clusters.sizes.tolist() == [3, 2, 1]
        assert len(clusters) == 3


def test_an_id_without_the_mark_is_a_cluster_of_its_own():
    assert clusters_by_prefix(["1_a", "1_b", "x"], "_") == {"1_a": "1", "1_b": "1", "x": "x"}


def test_no_clusters_are_none():
    assert resolve_clusters(None, IDS) is None


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(DataError, match="1 of 6 queries have no cluster"):
        resolve_clusters({query: "x" if query < "2" else "y" for query in IDS[1:]}, IDS)
    with pytest.raises(DataError, match='All queries are in one cluster, "x"'):
        resolve_clusters(dict.fromkeys(IDS, "x"), IDS)
    wide = tmp_path / "wide.csv"
    wide.write_text("query_id,a,b\n1_a,1,2\n")
    with pytest.raises(DataError, match="one column of clusters besides the query, not 2"):
        resolve_clusters(wide, ["1_a"])
    assert resolve_clusters("_", IDS).names == resolve_clusters(clusters_by_prefix(IDS, "_"), IDS).names
    with pytest.raises(UsageError, match="for 3 queries, but there are 6"):
        resolve_clusters(Clusters(np.array([0, 0, 1]), ["a", "b"]), IDS)


def test_one_number_per_cluster_keeps_the_mean():
    generator = np.random.default_rng(0)
    for _ in range(50):
        number = np.r_[0, 1, generator.integers(0, 4, 10)]
        number = np.unique(number, return_inverse=True)[1]
        clusters = Clusters(number, [str(at) for at in range(number.max() + 1)])
        values = generator.normal(size=(3, number.size))
        sums, (spread, degrees) = clusters.sum_differences(values), clusters.spread_means(values)
        sizes = np.bincount(number)
        assert degrees.tolist() == [max(1, int(sizes.sum() ** 2 / (sizes**2).sum() + 1e-9) - 1)] * 3
        share = len(clusters) / number.size
        plain = [[row[number == at].sum() * share for at in range(len(clusters))] for row in values]
        assert np.allclose(sums, plain)
        assert np.allclose(sums.mean(axis=-1), values.mean(axis=-1))
        assert np.allclose(spread.mean(axis=-1), values.mean(axis=-1))
        # The sandwich variance of a mean over clusters, with the usual correction for their number.
        apart = values - values.mean(axis=-1, keepdims=True)
        squares = sum((apart[:, number == at].sum(axis=-1)) ** 2 for at in range(len(clusters)))
        sandwich = len(clusters) / (len(clusters) - 1) * squares / number.size**2
        assert np.allclose(spread.var(axis=-1, ddof=1) / len(clusters), sandwich)


def test_equal_sizes_give_cluster_means():
    values = np.arange(12.0).reshape(1, 12) ** 2
    clusters = Clusters(np.repeat(np.arange(4), 3), list("abcd"))
    assert np.allclose(clusters.sum_differences(values), values.reshape(4, 3).mean(axis=-1))
    spread, degrees = clusters.spread_means(values)
    assert np.allclose(spread, values.reshape(4, 3).mean(axis=-1))
    assert degrees.tolist() == [3]


def test_topics_that_do_not_count():
    """As if they, and clusters that hold no other, were not there."""
    clusters = Clusters(np.array([0, 0, 1, 1, 2, 2]), list("abc"))
    values = np.array([[0.1, 0.5, np.nan, 0.2, np.nan, np.nan], [0.1, 0.5, 0.3, 0.2, 0.9, 1.0]])
    spread, degrees = clusters.spread_means(values)
    alone, degrees_alone = clusters.take(np.array([0, 1, 3])).spread_means(values[:1, [0, 1, 3]])
    assert spread[0, :2] == pytest.approx(alone[0])
    assert np.isnan(spread[0]).tolist() == [False, False, True]
    assert degrees.tolist() == [degrees_alone[0], 2]


@pytest.mark.parametrize("sizes", [[20] + [1] * 11, [1, 2, 3, 4] * 4, [5] * 12])
def test_intervals_of_means_hold_with_clusters_of_any_sizes(sizes):
    """Queries of a cluster share most of their chance; over queries intervals hold the mean half of the time."""
    generator, number = np.random.default_rng(len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    clusters = Clusters(number, [str(at) for at in range(len(sizes))])
    values = generator.beta(2, 2, (1000, len(sizes)))[:, number]
    spread, degrees = clusters.spread_means(values)
    for numbers, freedom, holds in ((spread, degrees, True), (values, None, False)):
        low, high = intervals_of_means(numbers, 0.0, 1.0, 0.95, freedom)
        assert (((low <= 0.5) & (high >= 0.5)).mean() > 0.92) == holds


def test_some_topics_keep_their_clusters():
    clusters = resolve_clusters(clusters_by_prefix(IDS, "_"), IDS).take(np.array([1, 3, 4]))
    assert clusters.names == ["2", "3"]
    assert clusters.number.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("ids", "mark"),
    [
        ([f"{need}_{turn}" for need in range(20) for turn in range(1, 6)], "_"),
        ([f"q{need}-{turn}" for need in range(6) for turn in "abc"], "-"),
        ([str(topic) for topic in range(401, 451)], None),
        ([f"PLAIN-{number}" for number in range(100)], None),
        ([f"{collection}/{number}" for collection in ("nq", "hotpot") for number in range(50)], None),
        ([f"2021_{number}" for number in range(50)], None),
        ([f"{number}_{number * 7 % 9973}" for number in range(60)], None),
    ],
)
def test_ids_that_look_like_clusters(ids, mark):
    assert clusters_in_ids(ids) == mark

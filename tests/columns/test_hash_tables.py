"""Keys and ids that somebody chose to be slow to look up: they are found, and in time."""

import numpy as np
import pytest
from hostile import write_qrels

import machine
import rankbounds as rb
from rankbounds.columns.hash_tables import HashTable
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source, number_pairs

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.fixture
def qrels(tmp_path):
    return write_qrels(tmp_path)


class TestChosenKeys:
    """What an attacker chooses costs about as much as what chance gives: seconds here would be minutes without it."""

    def test_many_pairs_with_one_key(self):
        count = 20_000
        topic = np.zeros(count, dtype=np.int64)
        docs = Ids.of([f"d{number}" for number in range(count)])
        pairs = Pairs(("1",), topic, docs, np.full(count, 7, dtype=np.uint64), Source("crafted"))
        with machine.within(200):
            rows, here = pairs.index.find(pairs, np.zeros(1, dtype=np.int64))
        assert rows.tolist() == here.tolist() == list(range(count))

    @pytest.mark.parametrize("bits", [0, 20, 44])
    def test_many_keys_that_want_one_place(self, bits):
        count = 40_000
        keys = np.arange(1, count + 1, dtype=np.uint64) << np.uint64(bits)
        topic = np.arange(count) % 2
        with machine.within(200):
            table = HashTable(keys, topic, 2)
            found = table.find(keys, topic)
        assert found.tolist() == list(range(count))
        assert not table.refused.size
        assert (table.find(keys, 1 - topic) == -1).all()
        assert (table.find(keys + np.uint64(1 << 62), topic) == -1).all()

    def test_a_crowd_refuses_what_stands_twice(self):
        keys = np.repeat(np.arange(1, 1001, dtype=np.uint64) << np.uint64(44), 2)
        table = HashTable(keys, np.zeros(keys.size, dtype=np.int64), 1)
        assert table.refused.size == 1000
        assert np.array_equal(keys[table.find(keys, np.zeros(keys.size, dtype=np.int64))], keys)

    def test_one_long_id_costs_its_bytes(self, tmp_path):
        long = "x" * 1_000_000
        docs = [long, *(f"d{number}" for number in range(1, 1000))]
        lines = [f"{topic} Q0 {doc} 1 1 tag" for topic in range(20) for doc in (docs if topic == 0 else docs[1:])]
        (tmp_path / "run").write_text("\n".join(lines))
        (tmp_path / "qrels").write_text(
            f"0 0 {long} 1\n0 0 {long[:-1]}y 1\n" + "".join(f"{t} 0 d7 1\n" for t in range(20))
        )
        with machine.within(200):
            run, qrels = rb.read_run(tmp_path / "run"), rb.read_qrels(tmp_path / "qrels")
            scores = rb.evaluate(qrels, run, ["NumRelRet", "RR"], bounds="none")  # hardly anything is judged
            shared = set(number_pairs([run.pairs, qrels.pairs])[0]) & set(number_pairs([run.pairs, qrels.pairs])[1])
            pooled = rb.judging.pools.pool([run, run], depth=len(run))
        assert scores.value[0, :2, 0].tolist() == [2.0, 1.0]
        assert scores.value[0, 0, 1] == 1.0  # "x" comes first where ties go by docno down
        assert len(shared) == 21
        assert len(pooled) == len(run)

    def test_ids_of_all_lengths_are_told_apart(self):
        values = [letter * length for length in (1, 8, 31, 32, 33, 64, 255, 256, 257, 1000) for letter in "ab"]
        values += [f"{'a' * 999}b", f"{'a' * 255}b", f"{'a' * 256}b"]
        ids = Ids.of(values + values)
        names, codes = ids.numbered()
        assert names == values
        assert codes.tolist() == [*range(len(values))] * 2
        assert ids.equals(Ids.of(values + values[::-1])).sum() == len(values) + (len(values) % 2)
        short = ids.take(np.flatnonzero(ids.length < 40))
        assert np.array_equal(short.hashes(), ids.hashes()[ids.length < 40])
        order = np.lexsort(Ids.of(values).sort_keys()[::-1])
        assert [values[number] for number in order] == sorted(values)

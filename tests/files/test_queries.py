"""What queries say is read from the files that people hold."""

from __future__ import annotations

import pytest

from rankbounds.errors import DataError
from rankbounds.files.queries import QueryText, read_query_texts

TOPICS = """<top>
<num> Number: 401
<title> foreign minorities, Germany

<desc> Description:
What impedes their
integration?

<narr> Narrative:
Causes &amp; effects.
</top>
<top>
<num> Number: 402 <title> genetics
</top>
"""


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (TOPICS, ("401", QueryText("foreign minorities, Germany", "What impedes their integration?",
                                   "Causes & effects."))),
        ('<topics><topic number="7"><query>a b</query><question>Why?</question></topic>\n<topic number="8">'
         "<query>c</query>"
         "</topic></topics>", ("7", QueryText("a b", "Why?"))),
        ("401\tforeign minorities\n402\tx\n", ("401", QueryText("foreign minorities"))),
        ("401 foreign minorities\n402 x\n", ("401", QueryText("foreign minorities"))),
        ("1:a family tree\n2:x\n", ("1", QueryText("a family tree"))),
        ('query_id,query,description\n1,"a, b",c\n2,x,y\n', ("1", QueryText("a, b", "c"))),
        ('qid\tquery\n1\tsay "b\n2\tx\n', ("1", QueryText('say "b'))),
        ('{"_id": "a", "text": "hi", "metadata": {}}\n{"_id": 3, "text": "x"}\n', ("a", QueryText("hi"))),
        ('{"1": "a b", "2": "x"}', ("1", QueryText("a b"))),
        ('{"1": {"title": "a b",\n "description": "c"}, "2": {"title": "x"}}', ("1", QueryText("a b", "c"))),
        ('[{"qid": 1, "query": "x", "narrative": "y"}, {"qid": 2, "query": "z"}]', ("1", QueryText("x", "", "y"))),
    ],
)  # fmt: skip
def test_texts_of_queries_are_read(tmp_path, content, first):
    path = tmp_path / "queries"
    path.write_text(content)
    queries = read_query_texts(str(path))
    assert next(iter(queries.items())) == first
    assert len(queries) == 2


@pytest.mark.parametrize(
    "content", ["", "401\n", "1\ta\n1\tb\n", '{"text": "x"}\n{"text": "y"}\n', "<top></top>", "<x>", "[1]",
                '{"_id": 1}\n', "{"],
)  # fmt: skip
def test_texts_of_queries_that_are_none_are_told(tmp_path, content):
    path = tmp_path / "queries"
    path.write_text(content)
    with pytest.raises(DataError, match="queries"):
        read_query_texts(str(path))

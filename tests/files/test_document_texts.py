"""Texts of documents are found in the files that people hold, and what is wrong with a file is told in a sentence."""

from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
import sys
import threading

import pytest

from rankbounds.errors import DataError
from rankbounds.files import document_texts
from rankbounds.files.document_texts import DocumentTexts

SGML = """<DOC>
<DOCNO> FT911-3 </DOCNO>
<PROFILE>_AN-BEOA7AAIFT</PROFILE>
<HEADLINE>FT  14 MAY 91 / Sale
of &amp; shares</HEADLINE>
<TEXT>First line.
<P>Second &lt;b&gt; line.</P></TEXT>
</DOC>
<doc><docno>
LA-1
</docno>No text element here.</doc><DOC><DOCNO>X</DOCNO><TEXT>a</TEXT><TEXT>b</TEXT></DOC>
"""
FILES = {
    "beir.jsonl": (
        '{"_id": "1", "title": "T", "text": "one\\ntwo", "metadata": {}}\n{"title": "U", "_id": 2, "text": "three"}\n',
        {"1": ("T", "one\ntwo"), "2": ("U", "three")},
    ),
    "anserini.jsonl": ('\ufeff{"id": "d\\u00e9", "contents": "x"}\n', {"d\u00e9": ("", "x")}),
    "marco.tsv": ('7\tIt is "quoted.\r\n8\tb, c\r\n', {"7": ("", 'It is "quoted.'), "8": ("", "b, c")}),
    "marco-docs.tsv": ("D1\thttp://x\tTitle\tBody\n", {"D1": ("Title", "Body")}),
    "wikipedia.tsv": ('id\ttext\ttitle\n1\t"a ""b"" c"\tAaron\n', {"1": ("Aaron", 'a "b" c')}),
    "latin.sgml": (
        SGML,
        {
            "FT911-3": ("FT 14 MAY 91 / Sale of & shares", "First line.\n\n\nSecond <b> line."),
            "LA-1": ("", "No text element here."),
            "X": ("", "a\n\nb"),
        },
    ),
}  # fmt: skip


def packed(kind, content):
    if kind == "zst":
        return pytest.importorskip("zstandard").compress(content)
    return gzip.compress(content) if kind == "gz" else content


def said(documents, doc_id):
    text = documents.text(doc_id)
    return None if text is None else (text.title, text.text)


@pytest.mark.parametrize("kind", ["plain", "gz", "zst"])
def test_every_format_says_what_its_documents_say(tmp_path, kind):
    for name, (content, _) in FILES.items():
        (tmp_path / f"{name}.{kind}").write_bytes(packed(kind, content.encode()))
    for name, (_, expected) in FILES.items():
        documents = DocumentTexts([str(tmp_path / f"{name}.{kind}")])
        assert {doc_id: said(documents, doc_id) for doc_id in expected} == expected
        assert len(documents) == len(expected)
        assert documents.text("nobody") is None
    (tmp_path / f"other.{kind}").write_bytes(packed(kind, b"Z\tlast\n"))
    together = DocumentTexts([str(tmp_path)])  # a folder; the first file of a name counts
    assert said(together, "X") == ("", "a\n\nb")
    assert said(together, "1") == ("T", "one\ntwo")
    assert said(together, "Z") == ("", "last")


def test_texts_in_latin_1_are_read(tmp_path):
    (tmp_path / "docs").write_bytes("<DOC><DOCNO>1</DOCNO><TEXT>caf\u00e9</TEXT></DOC>".encode("latin-1"))
    assert said(DocumentTexts([str(tmp_path / "docs")]), "1") == ("", "caf\u00e9")


def test_ids_whose_hashes_are_the_same_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(document_texts, "hash", lambda _: 5, raising=False)
    (tmp_path / "docs").write_text("a\t1\nb\t2\nc\t3\na\t4\n")
    documents = DocumentTexts([str(tmp_path / "docs")])
    assert [said(documents, name) for name in "abcd"] == [("", "1"), ("", "2"), ("", "3"), None]


def test_a_large_collection_is_looked_up_and_not_held(tmp_path):
    with (tmp_path / "docs.jsonl").open("w") as file:
        for number in range(20_000):
            file.write(json.dumps({"_id": f"d{number}", "text": f"{number} " * 40}) + "\n")
    documents = DocumentTexts([str(tmp_path / "docs.jsonl")])
    held = [array.nbytes for array in vars(documents).values() if hasattr(array, "nbytes")]
    assert sum(held) <= 24 * 20_000
    assert documents.text("d19999").text == "19999 " * 40


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "docs: the file is empty."),
        (b"PAR1\0\0", "docs: this is not a text file"),
        (b"[1, 2]", "docs: the file has no documents that can be read."),
        (b"<html><p>x</p></html>", "docs: the file has no documents that can be read."),
        (b"one line without anything\n", "docs: the file has no documents that can be read."),
        (b'{"_id": "1"}\n{"text": "x"}\n', "docs:2: this should be a JSON object with one of"),
        (b'{"_id": "1"}\n{"text": \n', "docs:2: cannot be read as a line of JSON"),
        (b"1\ttext\n2\n", "docs:2: this line has an id, but no text."),
        (b"docno,title,text\n1,a,b\n", "docs: the file has no documents that can be read. Expected: JSON lines or TSV"),
        (b"<DOC>\n<TEXT>x</TEXT></DOC>\n<DOC><DOCNO>2</DOCNO></DOC>", "docs:1: this document has no <DOCNO>."),
        (gzip.compress(b"1\tx\n" * 5000, mtime=0)[:40], "docs: the compressed data are damaged"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, content, told):
    (tmp_path / "docs").write_bytes(content)
    with pytest.raises(DataError) as error:
        DocumentTexts([str(tmp_path / "docs")])
    assert str(error.value).removeprefix(f"{tmp_path}/").startswith(told)


def test_a_document_without_an_end_is_no_trap(tmp_path, monkeypatch):
    monkeypatch.setattr(document_texts, "LONGEST_RECORD", 1000)
    (tmp_path / "long").write_text("1\t" + "x" * 2000)
    with pytest.raises(DataError, match="long:1: this line is longer than 64 MB"):
        DocumentTexts([str(tmp_path / "long")])
    (tmp_path / "open").write_text("<DOC><DOCNO>1</DOCNO>" + ("y" * 99 + "\n") * 2000)
    assert len(DocumentTexts([str(tmp_path / "open")]).text("1").text) < 70_000


def test_documents_are_text(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text(
        '{"doc_id": "d1", "title": "One", "text": "<b>two</b>"}\n\n{"docno": "d2", "body": "x"}\n{"id": "d3"}\n'
    )
    documents = DocumentTexts([str(path)])
    assert vars(documents.text("d1")) == {"title": "One", "text": "<b>two</b>", "cut": 0}
    assert documents.text("d2").text == "x"
    assert documents.text("d3").text == ""
    assert documents.text("../d1") is None
    path.write_text(json.dumps({"doc_id": "long", "text": "x" * (document_texts.LONGEST_SHOWN + 5)}) + "\n")
    assert DocumentTexts([str(path)]).text("long").cut == 5
    with pytest.raises(DataError, match="start again"):
        documents.text("d2")
    path.write_text("[" * 200_000 + "\n")
    with pytest.raises(DataError, match="no documents that can be read"):
        DocumentTexts([str(path)])


UNCLOSED = ["<TITLE>", "<DOCNO> ", "<FILEID>", "<TEXT>", "<!--", "<", "<P ", "<DOC ", " ", "&#9", "9"]
ENDLESS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from rankbounds.files.document_texts import LONGEST_READ, LONGEST_SHOWN, DocumentTexts
from rankbounds.report.observed import snippet
for name in sys.argv[1:]:
    text = DocumentTexts([name]).text("x")
    assert len(text.text) <= LONGEST_SHOWN and text.cut > LONGEST_READ - LONGEST_SHOWN, (name, text.cut)
snippet("some words " * 100_000, "some other words")
print("read")
"""


def test_the_time_for_a_text_grows_with_its_length_alone(tmp_path):
    """Patterns that look for what never comes take minutes of the processor for each of these."""
    names = []
    for number, part in enumerate(UNCLOSED):
        filling = part * (1_200_000 // len(part))
        names.append(tmp_path / f"{number}.sgml")
        names[-1].write_text(f"<DOC><DOCNO>x</DOCNO><TEXT>{'word ' * 200_000}</TEXT>{filling}\n</DOC>\n")
        names.append(tmp_path / f"{number}.second")
        names[-1].write_text(f"<DOC><DOCNO>x</DOCNO>{filling}{'word ' * 200_000}\n</DOC>\n")
    done = subprocess.run([sys.executable, "-c", ENDLESS, *names], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("read\n", "")


def test_a_text_that_takes_long_keeps_nobody_else_waiting(tmp_path, monkeypatch):
    (tmp_path / "two.sgml").write_text("<DOC><DOCNO>slow</DOCNO>a</DOC>\n<DOC><DOCNO>quick</DOCNO>b</DOC>\n")
    texts, parse, read = DocumentTexts([str(tmp_path / "two.sgml")]), document_texts._Sgml.parse, []

    def parse_slowly(self, record, place):
        if b"slow" in record:
            other = threading.Thread(target=lambda: read.append(texts.text("quick").text), daemon=True)
            other.start()
            other.join(600)
            assert read == ["b"], "the other one waits for this one"
        return parse(self, record, place)

    monkeypatch.setattr(document_texts._Sgml, "parse", parse_slowly)
    assert texts.text("slow").text == "a"


def test_fields_of_sgml_are_those_of_plain_patterns(tmp_path):
    """As patterns say them that take long where something is not closed."""
    names = {"headline": "HEADLINE|TITLE|HL", "about": "DOCNO|FILEID"}
    element = {kind: re.compile(rf"<({several})>(.*?)</\1>", re.I | re.S) for kind, several in names.items()}
    rng = random.Random(3)
    for _ in range(300):
        parts = [f"<{'/' * (rng.random() < 0.5)}{rng.choice(['HEADLINE', 'Title', 'hl', 'b'])}>" for _ in range(8)]
        parts = [part + rng.choice(["", "one ", "two ", "<!-- no -->", "<!--"]) for part in parts]
        content = "<FILEID>f</FILEID>" + "".join(parts)
        (tmp_path / "one.sgml").write_text(f"<DOC><DOCNO>x</DOCNO>{content}</DOC>")
        found = DocumentTexts([str(tmp_path / "one.sgml")]).text("x")
        titles = [document_texts._without_tags(one[2]).split() for one in element["headline"].finditer(content)]
        assert found.title.split() == next(filter(None, titles), [])
        left = element["headline"].sub("", element["about"].sub("", content))
        assert found.text == document_texts._without_tags(left)

"""The server of tools: what it answers, in process and over standard input and output, and what it does not reach."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
from operator import attrgetter
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.cli import parse
from rankbounds.errors import UsageError
from rankbounds.files.score_tables import stated
from rankbounds.interop import tool_server as served
from rankbounds.interop.assistant_tools import MOST_CHARACTERS, NAMES, ConfinedFolder, Tools

ROOT = Path(__file__).parents[2]
MADE = rb.studies.simulate(
    runs=2, topics=8, documents=60, depth=20, pool_depth=8, grades=2, ties=0.1, relevant=0.3, seed=4
)
pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "inside"
    (inside / "runs").mkdir(parents=True)
    MADE.pooled.write(inside / "qrels.txt")
    for number, run in enumerate(MADE.runs):
        run.renamed("ab"[number]).write(inside / "runs" / f"{'ab'[number]}.txt")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("1 0 secret 1\n")
    (inside / "link.txt").symlink_to(outside / "secret.txt")
    (inside / "linked").symlink_to(outside)
    return inside


# ---- the tools as functions ----


def test_answers_are_those_of_the_functions(folder):
    tools = Tools(folder)
    compared = rb.compare(folder / "qrels.txt", folder / "runs", "nDCG@10")
    answer = tools.compare("qrels.txt", "runs", ["nDCG@10"])
    assert answer["answer"] == compared.words()
    assert answer["rows"] == json.loads(compared.render("json"))
    scores = rb.evaluate(folder / "qrels.txt", folder / "runs", "AP")
    assert tools.evaluate("qrels.txt", ["runs/*.txt"], ["AP"])["rows"] == json.loads(scores.render("json"))
    assert tools.check("runs", "qrels.txt")["answer"].startswith("2 of 2 runs are ok")
    held = tools.gate("qrels.txt", "runs", ["nDCG@10 worse"], margin=0.05)
    gate = compared.gate("nDCG@10 worse", margin=0.05)
    assert (held["answer"], held["exit_code"]) == (gate.words(), gate.exit_code)
    value = scores.mean().value[0].item()
    assert "agrees" in tools.explain("qrels.txt", f"AP={value:.4f}", "runs/a.txt")["answer"]
    assert len(tools.judge_next("qrels.txt", "runs", budget=3)["rows"]) == 3


def test_a_sample_is_written_judged_and_audited(folder):
    tools, truth = Tools(folder), MADE.pooled.to_dict()
    drawn = tools.sample("qrels.txt", "runs", budget=12, measure="P@5")
    path = folder / drawn["file"]
    assert drawn["file"] == os.path.join("rankbounds-results", "sample-1.csv")
    header, *lines = path.read_text().splitlines()
    assert len(lines) == 12
    assert header == "query_id,doc_id,order,probability,relevance"
    with pytest.raises(rb.RankboundsError, match=r"has no relevance\. Judge the documents in order"):
        tools.audit("qrels.txt", drawn["file"], "runs", "P@5")
    judged = [f"{line}{truth[line.split(',')[0]][line.split(',')[1]]:g}" for line in lines]
    path.write_text("\n".join([header, *judged]) + "\n")
    answer = tools.audit("qrels.txt", drawn["file"], "runs", "P@5")
    assert [row["run"] for row in answer["rows"]] == ["a", "b"]


def test_data_may_be_given_themselves():
    rows = [{"question": "q", "retrieved_ids": ["a", "b"], "expected_ids": ["b"]}]
    assert Tools(".").evaluate(rows, measures=["RR"])["rows"][0]["value"] == 0.5
    judged, run = {"q": {"b": 1}}, {"q": ["a", "b"]}
    assert "agrees" in Tools(".").explain(rows, "RR=0.5")["answer"]
    (row,) = Tools(".").evaluate(judged, {"mine": run}, "RR")["rows"]
    assert (row["run"], row["query_id"], row["measure"], row["value"]) == ("mine", "all", "RR", 0.5)


def test_long_results_are_in_a_file(folder):
    short = Tools(folder).evaluate("qrels.txt", "runs", ["AP", "P@5", "RR", "nDCG@10"], per_topic=True)
    assert len(short["rows"]) + short["rows_left_out"] == 2 * 4 * 9
    assert len(json.dumps(short)) < 16_000
    assert len(json.loads((folder / short["file"]).read_text())) == 72
    reading = Tools(folder, writes=False).evaluate("qrels.txt", "runs", ["AP", "P@5", "RR", "nDCG@10"], per_topic=True)
    assert "file" not in reading
    assert len(os.listdir(folder / "rankbounds-results")) == 1


@pytest.mark.parametrize("length", [20, 5_000, 300_000])
def test_long_ids_do_not_make_long_answers(tmp_path, length):
    """However long ids are, sentences and rows stay within the limit; the file has all of it."""
    tools, runs = Tools(tmp_path), {name * length: {query: ["a", "b"] for query in "pqr"} for name in "xy"}
    for call in (tools.evaluate, tools.compare):
        answer = call({query: {"b": 1} for query in "pqr"}, runs, measures=["RR"])
        rows = answer["rows"]
        assert len(answer["answer"]) + len(json.dumps(rows)) <= MOST_CHARACTERS
        if answer.get("rows_left_out"):
            whole = json.loads((tmp_path / answer["file"]).read_text())
            assert (rows, len(whole)) == (whole[: len(rows)], len(rows) + answer["rows_left_out"])
        assert ("rows_left_out" in answer) == (length > 20)


def test_reported_numbers_may_be_long(tmp_path):
    """No pattern looks at the digits more than a few times: half a million would otherwise take hours."""
    rows, digits = [{"question": "q", "retrieved_ids": ["a"], "expected_ids": ["a"]}], "1" * 500_000
    assert Tools(tmp_path).explain(rows, f"RR={digits}")["answer"].startswith("RR differs")
    for text in (f"{digits}x", f"{'=' * 500_000}x", f"RR={' ' * 500_000}x"):
        assert stated(text) is None


def test_a_result_that_cannot_be_written_is_still_answered(folder, monkeypatch):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_text", refuse)
    drawn = Tools(folder).sample("qrels.txt", "runs", budget=3, measure="P@5")
    assert (len(drawn["rows"]), drawn["file"]) == (3, "not written (Read-only file system)")


# ---- what is out of reach ----

OUT = [
    *("link.txt", "linked", "linked/secret.txt", "../outside/secret.txt", "../outside", "linked/*", "../*/*.txt"),
    *("/etc/passwd", "/etc/*", "l*/secret.txt", "li*", "runs/../../outside/secret.txt", "-", "~/x", "", "a\0b"),
    *("ir_datasets:beir/scifact", "x=../outside/secret.txt", "x=link.txt", "nothing.txt", "/proc/self/environ"),
    "runs/*.nothing",
]


@pytest.mark.parametrize("path", OUT)
def test_nothing_outside_of_the_folder_is_read(folder, path):
    tools = Tools(folder)
    for call in (
        lambda: tools.evaluate(path, "runs"),
        lambda: tools.evaluate("qrels.txt", path),
        lambda: tools.evaluate("qrels.txt", [path]),
        lambda: tools.evaluate("qrels.txt", {"x": path}),
        lambda: tools.evaluate("qrels.txt", ["runs", path]),
        lambda: tools.check(path),
        lambda: tools.explain("qrels.txt", path, "runs/a.txt"),
        lambda: tools.audit("qrels.txt", path, "runs"),
        lambda: tools.audit("qrels.txt", [path], "runs"),
    ):
        with pytest.raises(UsageError):
            call()


def test_paths_inside_are_read_however_they_are_written(folder):
    confined = ConfinedFolder(folder)
    qrels = str(folder / "qrels.txt")
    for path in ("qrels.txt", "./qrels.txt", "runs/../qrels.txt", qrels, "q*.txt"):
        assert confined.file(path) == os.path.realpath(qrels)
    (folder / "alias.txt").symlink_to(folder / "qrels.txt")
    assert confined.file("alias.txt") == os.path.realpath(qrels)
    assert confined.inputs(["x=runs/a.txt", "y=runs/b.txt"]) == {
        name: os.path.realpath(folder / "runs" / file) for name, file in (("x", "a.txt"), ("y", "b.txt"))
    }


def test_links_to_their_own_folder_lead_nowhere(folder):
    """With two such links, following them would take longer than anybody waits."""
    (folder / "runs" / "again").symlink_to(".")
    inside = [os.path.realpath(folder / "runs" / name) for name in ("a.txt", "b.txt")]
    assert ConfinedFolder(folder).files("runs/**/*.txt") == inside
    assert ConfinedFolder(folder).files("**/[ab].txt") == inside


def test_results_are_not_written_through_a_link(folder, tmp_path):
    (folder / "rankbounds-results").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="is a link or a file"):
        Tools(folder).sample("qrels.txt", "runs", budget=3, measure="P@5")
    assert os.listdir(tmp_path / "outside") == ["secret.txt"]


def test_a_link_that_leads_in_a_circle_is_no_folder(folder):
    (folder / "loop").symlink_to(folder / "loop")
    with pytest.raises(UsageError, match="is not a folder"):
        ConfinedFolder(folder / "loop")
    (folder / "rankbounds-results").symlink_to(folder / "rankbounds-results")
    with pytest.raises(UsageError, match="is a link or a file"):
        Tools(folder).sample("qrels.txt", "runs", budget=3, measure="P@5")


def test_a_folder_with_a_link_that_leads_out_names_the_link(folder):
    (folder / "runs" / "out.txt").symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match=r"out\.txt. lies outside of the folder"):
        Tools(folder).evaluate("qrels.txt", "runs")


def test_files_that_are_too_large_are_refused_before_they_are_read(folder):
    with (folder / "huge.txt").open("w") as file:
        file.truncate(5 << 30)
    with pytest.raises(UsageError, match=r"larger than 4 GB.*--engine stream"):
        Tools(folder).evaluate("qrels.txt", "huge.txt")


def test_a_file_is_no_folder(folder):
    with pytest.raises(UsageError, match="is not a folder"):
        Tools(folder / "qrels.txt")


# ---- the protocol ----


def needs_mcp():
    return pytest.importorskip("mcp", reason="the package mcp is not installed")


def structured(result):
    return getattr(result, "structured_content", None) or json.loads(result.content[0].text)


def test_in_process(folder):
    needs_mcp()
    server = served(folder)
    tools = asyncio.run(server.list_tools())
    assert [tool.name for tool in tools] == list(NAMES)
    assert all(tool.description for tool in tools)
    answer = asyncio.run(server.call_tool("compare", {"qrels": "qrels.txt", "runs": "runs", "measures": ["AP"]}))
    assert structured(answer)["answer"] == rb.compare(folder / "qrels.txt", folder / "runs", "AP").words()


def test_errors_are_one_sentence_without_the_folder(folder):
    needs_mcp()
    from mcp.server.mcpserver.exceptions import ToolError

    (folder / "broken.txt").write_text("1 Q0 a 1 x tag\n")
    with pytest.raises(ToolError) as told:
        asyncio.run(served(folder).call_tool("evaluate", {"qrels": "qrels.txt", "runs": "broken.txt"}))
    assert "broken.txt:1" in str(told.value)
    assert str(folder) not in str(told.value)


def test_over_standard_input_and_output(folder):
    needs_mcp()
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def talk():
        command = StdioServerParameters(command=sys.executable, args=["-m", "rankbounds", "mcp", str(folder)])
        async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            listed = await session.list_tools()
            good = await session.call_tool(
                "evaluate", {"qrels": "qrels.txt", "runs": ["mine=runs/a.txt"], "measures": ["AP"]}
            )
            bad = await session.call_tool("evaluate", {"qrels": "../outside/secret.txt", "runs": "runs"})
            return [tool.name for tool in listed.tools], good, bad

    names, good, bad = asyncio.run(asyncio.wait_for(talk(), 60))
    assert names == list(NAMES)
    (row,) = structured(good)["rows"]
    assert row["run"] == "mine"
    assert row["value"] == rb.evaluate(folder / "qrels.txt", folder / "runs" / "a.txt", "AP").mean().value.item()
    assert getattr(bad, "is_error", None) or getattr(bad, "isError", None)
    assert "lies outside of the folder" in bad.content[0].text


def test_without_the_package_there_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(UsageError, match=r"pip install \"rankbounds\[mcp\]\""):
        served(".")


# ---- what assistants read ----


@pytest.mark.parametrize("name", ["examples/skill/SKILL.md", "docs/llms.txt"])
def test_calls_that_assistants_are_told_exist(name):
    """Commands and options are parsed, names of Python are looked up, and what precedes the list of pages is short."""
    text = (ROOT / name).read_text()
    assert len(text.partition("\n## Start\n")[0].splitlines()) <= 60
    commands = [shlex.split(line)[1:] for line in re.findall(r"`(rankbounds [a-z][^`]*)`", text)]
    assert len(commands) >= 10
    for words in commands:
        assert parse(words).command == words[0]
    names = set(re.findall(r"\brb((?:\.\w+)+)", text))
    assert len(names) >= 6
    for dotted in names:
        attrgetter(dotted[1:])(rb)
    pages = re.findall(r"\]\(([^)]+\.md)\)", text)
    assert all((ROOT / "docs" / page).exists() for page in pages)

"""A server of tools for assistants (Model Context Protocol).

Every tool does what the function or command of its name does, on files of one folder. An answer has the sentences, the
first rows of the result, and, if there are too many rows, the path of a file with all of them.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from glob import has_magic
from pathlib import Path
from typing import Any

import rankbounds as rb
from rankbounds.errors import RankboundsError, RankboundsWarning, UsageError
from rankbounds.files.opening import matching
from rankbounds.files.score_tables import stated

MOST_FILES = 500
MOST_BYTES = 4 << 30


class ConfinedFolder:
    """The files in one folder, by paths that cannot lead out of it: not by ``..``, links, patterns or full paths."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not Path(folder).is_dir():  # before links are followed: one may lead in a circle
            raise UsageError(f"{os.fspath(folder)} is not a folder.")
        self.root = Path(folder).resolve()

    def file(self, given: str) -> str:
        files = self.files(given)
        if len(files) != 1:
            raise UsageError(f'"{given}" names {len(files)} files, but one is expected.')
        return files[0]

    def files(self, given: str) -> list[str]:
        """Return the files of a path, a folder or a pattern, each inside of the folder, links followed."""
        if not given or "\0" in given or given == "-" or given.startswith("~"):
            raise UsageError(f"{given!r} is not a path of a file below the folder.")
        path = self.root / given  # a full path stays what it is
        entries = [path]
        if not os.path.lexists(path) and has_magic(given):
            if ".." in Path(given).parts or Path(given).is_absolute():
                raise UsageError(f'The pattern "{given}" must stay below the folder.')
            entries = [Path(name) for name in sorted(matching(given, os.fspath(self.root)))]  # links: looked at below
            if not entries:
                raise UsageError(f'No file below the folder matches "{given}".')
        elif path.is_dir():
            inside = self._inside(path, given)
            entries = sorted(entry for entry in inside.iterdir() if not entry.name.startswith("."))
        names = [given] if entries == [path] else [os.path.relpath(one, self.root) for one in entries]
        resolved = (self._inside(one, name) for one, name in zip(entries, names, strict=True))
        files = [os.fspath(real) for real in resolved if real.is_file()]
        if not files:
            raise UsageError(f'There is no file "{given}" below the folder.')
        if len(files) > MOST_FILES:
            raise UsageError(f'"{given}" names {len(files):,} files; no more than {MOST_FILES} are read.')
        if sum(map(os.path.getsize, files)) > MOST_BYTES:
            raise UsageError(
                f'"{given}" is larger than {MOST_BYTES >> 30} GB, too much for this server: use the command line, with '
                "--engine stream."
            )
        return files

    def _inside(self, path: Path, given: str) -> Path:
        try:
            real = path.resolve()
        except (OSError, RuntimeError):
            raise UsageError(f'"{given}" is a link that leads in a circle.') from None
        if not real.is_relative_to(self.root):
            raise UsageError(f'"{given}" lies outside of the folder, and is not read.')
        return real

    def inputs(self, given: Any) -> Any:
        """Check a tool's argument for judgments or runs: every text that would be read as a path must be one here.

        ``name=path`` names a run. Dicts and rows with data pass unchanged.
        """
        if isinstance(given, str):
            return self._named([given])
        if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
            return self._named(given)
        if isinstance(given, list):
            return [self.file(one) if isinstance(one, str) else one for one in given]
        if isinstance(given, Mapping):
            return {name: self.file(one) if isinstance(one, str) else one for name, one in given.items()}
        return given

    def _named(self, several: list[str]) -> Any:
        by_name: dict[str, str] = {}
        plain: list[str] = []
        for one in several:
            name, equals, path = one.partition("=")
            if equals and not os.path.lexists(self.root / one):
                by_name[name] = self.file(path)
            else:
                plain += self.files(one)
        if by_name and plain:
            by_name |= {Path(path).name: path for path in plain}
        return by_name or (plain[0] if len(plain) == 1 else plain)

    def to_write(self, name: str, ending: str) -> Path:
        folder = self.root / "rankbounds-results"
        if folder.is_symlink() or (os.path.lexists(folder) and not folder.is_dir()):
            raise UsageError("rankbounds-results is a link or a file, not a folder: nothing is written.")
        folder.mkdir(exist_ok=True)
        number = 1
        while os.path.lexists(path := folder / f"{name}-{number}{ending}"):
            number += 1
        return path

    def shown(self, text: str) -> str:
        return text.replace(f"{self.root}{os.sep}", "")


MOST_ROWS = 40
MOST_CHARACTERS = 12_000
"""How much of a result is put into a conversation; all of it is in the file that the answer names."""
MOST_NOTES = 8
INSTRUCTIONS = """Scores ranked retrieval and says how sure one can be. Judgments (qrels) and runs are paths below the
server's folder (TREC files, CSV, JSON, JSON lines, Parquet; runs also patterns, folders and name=path), or small data
themselves: {query: {document: grade}}, {query: [document, ...]}, or rows {"question", "retrieved_ids", "expected_ids"},
which need no runs. Before a number is reported: check. One system: evaluate. Two or more: compare, whose sentences say
whether a difference may be noise, and what unjudged documents leave open. A rule for CI: gate. A number that differs
from another tool's: explain. What to judge: judge_next. Labels by a model: sample, let people judge it, then audit.
Quote the sentences; do not compute measures by hand."""

Data = str | list[Any] | dict[str, Any]
Names = str | list[str]


class Tools:
    """The server's tools, as functions of plain values; ``writes`` allows files for long results."""

    def __init__(self, folder: str | os.PathLike[str], *, writes: bool = True) -> None:
        self.folder, self.writes = ConfinedFolder(folder), writes

    def check(self, runs: Data, qrels: Data | None = None) -> dict[str, Any]:
        """Check whether runs can be read and scored: errors with file and line, warnings, ties. Call this first."""
        checks = rb.check(self.folder.inputs(runs), None if qrels is None else self._judgments(qrels))
        return self._answer("check", checks)

    def evaluate(
        self,
        qrels: Data,
        runs: Data | None = None,
        measures: Names | None = None,
        per_topic: bool = False,
        ties: str = "trec",
        unjudged: str = "nonrelevant",
        columns: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Score runs against judgments; low and high are what unjudged documents leave open."""
        how = _given(measures=measures, ties=ties, unjudged=unjudged, columns=columns)
        scores = rb.evaluate(*self._collection(qrels, runs), **how)
        return self._answer("evaluate", scores, str(scores), per_topic=per_topic)

    def compare(
        self,
        qrels: Data,
        runs: Data,
        measures: Names | None = None,
        baseline: str | None = None,
        ties: str = "trec",
        columns: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Compare runs: is one better, or is it noise? Of two runs the second is compared with the first."""
        how = _given(measures=measures, baseline=baseline, ties=ties, columns=columns)
        return self._answer("compare", rb.compare(*self._collection(qrels, runs), **how))

    def gate(
        self,
        qrels: Data,
        runs: Data,
        conditions: Names,
        margin: float = 0.0,
        baseline: str | None = None,
        columns: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Hold runs against conditions such as "nDCG@10 worse" or "judged@10 < 0.5": pass, fail or undecided."""
        how = _given(baseline=baseline, columns=columns)
        gate = rb.compare(*self._collection(qrels, runs), **how).gate(conditions, margin=margin)
        return self._answer("gate", gate) | {"exit_code": gate.exit_code}

    def explain(self, qrels: Data, reported: str, run: Data | None = None) -> dict[str, Any]:
        """Find out why another tool reports another number: reported is "nDCG@10=0.534", or a file of its output."""
        if os.sep in reported or stated(reported) is None:
            reported = self.folder.file(reported)
        return self._answer("explain", rb.explain(*self._collection(qrels, run), reported))

    def judge_next(
        self,
        qrels: Data,
        runs: Data,
        budget: int = 20,
        measure: str | None = None,
        compare: list[str] | None = None,
        columns: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """List the unjudged documents whose judgment would tell most; compare names two runs, or is ["all"]."""
        pair: Any = None if compare is None else "all" if compare == ["all"] else tuple(compare)
        how = _given(measure=measure, compare=pair, columns=columns)
        return self._answer("judge_next", rb.judge_next(*self._collection(qrels, runs), budget=budget, **how))

    def sample(self, labels: Data, runs: Data, budget: int, measure: str = "nDCG@10", seed: int = 0) -> dict[str, Any]:
        """Draw the documents that people should judge to audit a model's labels; fill in the column relevance."""
        drawn = rb.judging.draw_sample(*self._collection(labels, runs), measure, budget=budget, seed=seed)
        words = (
            f"{len(drawn.rows())} documents were drawn (seed {seed}). Let people judge them in this order, from the "
            "first on, and write their grades into the column relevance; then call audit with the file."
        )
        header, _, lines = drawn.render("csv").partition("\n")
        return self._answer("sample", drawn, words, file=f"{header},relevance\n" + lines.replace("\n", ",\n"))

    def audit(
        self, labels: Data, sample: str | list[Any], runs: Data, measures: Names | None = None, difference: bool = False
    ) -> dict[str, Any]:
        """Correct scores by a model's labels with a sample that people judged, with intervals that cover."""
        given, systems = self._collection(labels, runs)
        judged = self.folder.inputs(sample)
        corrected = rb.audit(given, judged, systems, difference=difference, **_given(measures=measures))
        return self._answer("audit", corrected)

    def _judgments(self, given: Data) -> Any:
        confined = self.folder.inputs(given)
        if isinstance(given, str) and not isinstance(confined, str):
            raise UsageError(f'"{given}" names {len(confined)} files, but judgments must be one file.')
        return confined

    def _collection(self, qrels: Data, runs: Data | None) -> tuple[Any, Any]:
        return self._judgments(qrels), None if runs is None else self.folder.inputs(runs)

    def _answer(self, name: str, result: Any, words: str = "", *, file: str = "", **how: Any) -> dict[str, Any]:
        written = result.render("json", **how)
        rows = json.loads(written)
        shown = rows[:MOST_ROWS]
        said = self.folder.shown(words or result.words())
        if (more := len(said) - MOST_CHARACTERS + 100) > 0:
            said = f"{said[:-more]} ... ({more:,} characters more)"
        while shown and len(said) + len(json.dumps(shown)) > MOST_CHARACTERS:
            shown = shown[: len(shown) // 2]
        answer: dict[str, Any] = {"answer": said, "rows": shown}
        if len(shown) < len(rows):
            answer["rows_left_out"] = len(rows) - len(shown)
        if self.writes and (file or len(shown) < len(rows)):
            try:
                path = self.folder.to_write(name, ".csv" if file else ".json")
                path.write_text(file or written, encoding="utf-8", errors="surrogateescape")
                answer["file"] = os.path.relpath(path, self.folder.root)
            except OSError as error:
                answer["file"] = f"not written ({error.strerror})"
        return answer


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


NAMES = ("check", "evaluate", "compare", "gate", "explain", "judge_next", "sample", "audit")


def tool_server(folder: str | os.PathLike[str] = ".", *, writes: bool = True) -> Any:
    """Return a server of tools for assistants, of the package ``mcp``; ``run("stdio")`` serves it.

    Parameters
    ----------
    folder : path
        What the tools may read; paths that lead out of it are refused.
    writes : bool, default True
        Whether results that are too long may be written into ``rankbounds-results`` in the folder.

    Returns
    -------
    MCPServer
        With the tools check, evaluate, compare, gate, explain, judge_next, sample and audit.

    Examples
    --------
    >>> import asyncio
    >>> from rankbounds.interop import tool_server
    >>> server = tool_server(".")  # doctest: +SKIP
    >>> [tool.name for tool in asyncio.run(server.list_tools())][:3]  # doctest: +SKIP
    ['check', 'evaluate', 'compare']
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise UsageError('The tool server needs the package mcp: pip install "rankbounds[mcp]".') from None
    tools, one_at_a_time = Tools(folder, writes=writes), threading.Lock()
    server = MCPServer("rankbounds", instructions=INSTRUCTIONS, version=rb.__version__)

    def guarded(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        @wraps(function)
        def call(*given: Any, **options: Any) -> dict[str, Any]:
            with one_at_a_time, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", RankboundsWarning)
                try:
                    answer = function(*given, **options)
                except RankboundsError as error:
                    raise ToolError(tools.folder.shown(str(error))) from None
                except OSError as error:
                    raise ToolError(tools.folder.shown(f"A file cannot be used ({error.strerror or error}).")) from None
            said = (str(one.message) for one in caught if issubclass(one.category, RankboundsWarning))
            notes = [tools.folder.shown(note) for note in dict.fromkeys(said)]
            return answer | {"notes": notes[:MOST_NOTES]} if notes else answer

        return call

    for name in NAMES:
        server.tool(name=name)(guarded(getattr(tools, name)))
    return server

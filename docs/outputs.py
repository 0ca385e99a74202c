"""Runs what the pages show, and writes what came out into them.

    python docs/outputs.py                  every page anew: prints which changed
    python docs/outputs.py docs/gate.md     one page

A page is run in a folder of its own, from top to bottom. It holds the demo collection as ``demo/``, as ``qrels.txt``
with ``runs/``, and some of its runs under names that pages use (``RUNS``).

- ``console`` blocks: lines after ``$`` are commands, what follows is their
  output. A line ``...`` stands for any lines.
- ``sh`` blocks are commands that must succeed (0), or answer "no" or "undecided" (1, 4); what ``console`` blocks show
  may be a refusal (2, 3).
- ``python`` blocks share one namespace for the page; ``pycon`` blocks are sessions with their output.
- ``<!-- setup ... -->`` holds commands that a reader does not see; in ``<!-- setup python ... -->``, Python, where
  ``setups`` is ``docs/setups.py``.
- ``<!-- not run: why -->`` before a block leaves it out.
- ``<!-- with NAME.tar.xz -->`` before a block, or ``<!-- setup with NAME.tar.xz ... -->``, runs it in that folder of
  real data, which is not part of this project; where it is absent (``RANKBOUNDS_DATA`` names its place) the block stays
  as it is.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "src" / "rankbounds" / "demo"
BLOCK = re.compile(
    r"^(?:(?P<skip><!-- not run: [^\n]+ -->\n+)|(?P<mark><!-- with (?P<data>[\w.-]+) -->\n+))?"
    r"(?:<!-- setup(?P<kind> python)?(?: with (?P<setup_data>[\w.-]+))?\n(?P<setup>.*?)-->\n"
    r"|(?P<open>```(?P<language>\w*)[^\n]*\n)(?P<body>.*?)(?P<close>^```\n))",
    re.M | re.S,
)
RUN = ("console", "sh", "python", "pycon")
SHELL = re.compile(r"[|>&;$`]")
ANSWERS, REFUSALS = (0, 1, 4), (2, 3)
RUNS = {
    "baseline": "bm25",
    "candidate": "reranked",
    "run": "bm25",
    "a": "bm25",
    "b": "dense",
    "old": "bm25",
    "new": "bm25-expanded",
    "before": "bm25",
    "after": "reranked",
}


class PageError(Exception):
    """What a page shows does not run."""


def pages() -> list[Path]:
    """Every page with something to run in it."""
    followed_elsewhere = {"adding-a-measure.md"}  # whose file has to stand among the measures: see its own test
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in found if page.name not in followed_elsewhere]


def rewritten(page: Path) -> str:
    """The page as it is when everything in it has been run."""
    with _folder() as folder:
        names = _names()

        def run(block: re.Match[str]) -> str:
            place = f"{page.name}:{page.read_text()[: block.start()].count(chr(10)) + 1}"
            data = block["data"] or block["setup_data"]
            if block["skip"] or (data and not archive(data)):
                return block[0]
            with _unpacked(data, folder) if data else contextlib.nullcontext(folder) as here:
                if block["setup"] is not None:
                    if block["kind"]:
                        _python(block["setup"], names, place)
                    else:
                        _commands(block["setup"], place, here)
                    return block[0]
                body = block["body"]
                if block["language"] == "console":
                    body = _console(body, place, here)
                elif block["language"] == "sh":
                    _commands(body, place, here)
                elif block["language"] == "python":
                    _python(body, names, place)
                elif block["language"] == "pycon":
                    body = _session(body, names, place)
            return f"{block['mark'] or ''}{block['open']}{body}{block['close']}"

        return BLOCK.sub(run, page.read_text())


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder with the demo collection under the names that pages use; the program stands in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(DEMO, folder / "demo", ignore=shutil.ignore_patterns("__*"))
        shutil.copytree(DEMO / "runs", folder / "runs")
        shutil.copy(DEMO / "qrels.txt", folder)
        for name, system in RUNS.items():
            shutil.copy(DEMO / "runs" / f"{system}.txt", folder / f"{name}.txt")
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def archive(name: str) -> Path | None:
    """Real data of this name, if it is here."""
    places = [ROOT.parent / "shared" / "data"]
    if given := os.environ.get("RANKBOUNDS_DATA"):
        places.insert(0, Path(given))
    return next((place / name for place in places if (place / name).exists()), None)


@contextlib.contextmanager
def _unpacked(name: str, folder: Path) -> Iterator[Path]:
    """The folder of real data, unpacked when it is first asked for; the program stands in it."""
    data, source = folder / name.split(".")[0], archive(name)
    if source and not data.exists():
        with tarfile.open(source) as packed:
            packed.extractall(folder, filter="data")
    os.chdir(data)
    try:
        yield data
    finally:
        os.chdir(folder)


def _names() -> dict[str, Any]:
    """What Python examples may use: the package, the files of the folder as dicts, and what makes more of them."""
    import rankbounds

    spec = spec_from_file_location("setups", ROOT / "docs" / "setups.py")
    assert spec is not None
    assert spec.loader is not None
    setups = module_from_spec(spec)
    spec.loader.exec_module(setups)

    lists = {name: rankbounds.read_run(f"{name}.txt").to_dict() for name in RUNS}
    runs = {path.stem: rankbounds.read_run(path).to_dict() for path in sorted(Path("runs").iterdir())}
    return {
        "rb": rankbounds,
        "setups": setups,
        "qrels": rankbounds.read_qrels("qrels.txt").to_dict(),
        "runs": runs,
        **lists,
    }


def _commands(text: str, place: str, folder: Path) -> None:
    for command in _joined(text.splitlines()):
        if command and not command.startswith("#"):
            _run(command, place, folder)


def _console(text: str, place: str, folder: Path) -> str:
    """The block with the output that its commands have now."""
    parts = re.split(r"(^\$ (?:.*\\\n)*.*\n)", text, flags=re.M)
    shown = [parts[0]]
    for prompt, expected in zip(parts[1::2], parts[2::2], strict=True):
        output = _run(_joined(prompt[2:].splitlines())[0], place, folder, REFUSALS)
        shown += [prompt, expected if _alike(expected, output) else output]
    return "".join(shown)


def _joined(lines: list[str]) -> list[str]:
    """Commands, those over several lines as one."""
    return [command.strip() for command in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines()]


def _alike(expected: str, output: str) -> bool:
    """Is this the output, where ``...`` stands for any lines?"""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + "\n" for line in expected.splitlines()
    )
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in output.splitlines())) is not None


def _run(command: str, place: str, folder: Path, other_codes: tuple[int, ...] = ()) -> str:
    """What a command prints, on both channels; rankbounds alone runs in this process."""
    command = re.split(r"\s+# ", command)[0]
    if command.startswith("rankbounds ") and not SHELL.search(command):
        code, output = _here(command)
    else:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=os.environ | {"PATH": path}, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        code, output = done.returncode, done.stdout
    if code and (not command.startswith("rankbounds ") or code not in (*ANSWERS, *other_codes)):
        raise PageError(f"{place}: exit code {code} of: {command}\n{output}")
    return output.replace(str(folder), "").replace("\r", "")


def _here(command: str) -> tuple[int, str]:
    from rankbounds.cli import main

    words = shlex.split(command)[1:]
    if re.search(r"[{*?]", command):
        done = subprocess.run(
            ["bash", "-c", f"printf '%s\\n' {command.partition(' ')[2]}"], capture_output=True, text=True, check=True
        )
        words = done.stdout.splitlines()
    output = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return code or 0, output.buffer.getvalue().decode()  # type: ignore[attr-defined]


def _python(text: str, names: dict[str, Any], place: str) -> None:
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, place, "exec"), names)
    except Exception as error:
        raise PageError(f"{place}: {type(error).__name__}: {error}\n{text}") from error


def _session(text: str, names: dict[str, Any], place: str) -> str:
    """A session in Python with the output that it has now."""
    shown = []
    for part in doctest.DocTestParser().parse(text, place):
        if isinstance(part, str):
            shown.append(part)
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(part.source, place, "single"), names)
        lines = part.source.splitlines(keepends=True)
        shown += [f">>> {lines[0]}", *(f"... {line}" for line in lines[1:])]
        shown += [f"{printed}\n"] if (printed := output.getvalue().rstrip("\n")) else []
    return "".join(shown)


def main(arguments: list[str]) -> int:
    """Write the pages anew."""
    failed = 0
    for page in [Path(name).resolve() for name in arguments] or pages():
        before = page.read_text()
        try:
            after = rewritten(page)
        except PageError as error:
            failed += 1
            print(error)
            continue
        if after != before:
            page.write_text(after)
            changes = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
            print(page.name, *changes, sep="\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

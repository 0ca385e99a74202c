"""What tests of reports share: packed arrays, hostile names, and hands for the browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np

from rankbounds.commands.demo import DATA

HOSTILE = [
    '</script><script>window.hacked="script"</script>',
    '"><img/src=x/onerror=window.hacked="image">',
    "{{script}}{{data}}",
    "<!--<script>",
    "'`${window.hacked='template'}`",
    "&lt;b&gt;\u2028\u202e",
]


MEASURES = ["RBP(p=0.8)", "AP", "nDCG@10", "P@10"]


def unpacked(held):
    kind = {"f8": "<f8", "u4": "<u4", "u2": "<u2", "u1": "|u1"}[held["type"]]
    return np.frombuffer(zlib.decompress(base64.b64decode(held["data"]), wbits=-15), dtype=kind).reshape(held["shape"])


def rbp_of(run, p, unit=1.0):
    """Value and residual as the page computes them."""
    sure, still_open = unpacked(run["sums"]).astype(float) / unit
    powers = p ** np.arange(sure.size)
    lists = sum(number for _, number in run["lengths"])
    beyond = sum(number * p**length for length, number in run["lengths"])
    return (1 - p) * sure @ powers / lists, ((1 - p) * still_open @ powers + beyond) / lists


def hostile_files(folder: Path) -> tuple[Path, list[Path]]:
    """Judgments and runs whose every id, tag and file name is an attack."""
    judgments, runs = folder / "<b>qrels.jsonl", []
    rows = [{"query_id": query, "doc_id": doc, "relevance": at % 2}
            for query in HOSTILE for at, doc in enumerate(HOSTILE[:4])]  # fmt: skip
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for number, tag in enumerate(HOSTILE[:3]):
        ranked = [f"{query.replace(' ', '_')} Q0 {doc} 1 {number + at}.5 {tag.replace(' ', '_')}\n"
                  for query in HOSTILE for at, doc in enumerate(HOSTILE) if " " not in doc]  # fmt: skip
        runs.append(folder / f"<i>{number}.txt")
        runs[-1].write_text("".join(ranked))
    return judgments, runs


def without_topics(folder, name, left_out):
    path = folder / f"{name}.txt"
    lines = (DATA / "runs" / f"{name}.txt").read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.split()[0] not in left_out))
    return path


def opened(chromium, path):
    chromium.get(Path(path).as_uri())
    return chromium


def rows_of(chromium, table):
    script = "return [...document.querySelectorAll(arguments[0])].map(r => [...r.cells].map(c => c.textContent))"
    return chromium.execute_script(script, f"#{table} tbody tr")


def choose(chromium, select, index):
    chromium.execute_script(
        "const s = document.getElementById(arguments[0]); s.selectedIndex = arguments[1];"
        "s.dispatchEvent(new Event('change'))",
        select,
        index,
    )


def verdict_of(chromium, a, b, measure):
    for select, index in (("measure", measure), ("run-a", a), ("run-b", b)):
        choose(chromium, select, index)
    return texts(chromium, "#verdict p")


def texts(chromium, selector):
    return chromium.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector
    )


def type_in(chromium, field, text):
    chromium.execute_script(
        "const f = document.getElementById(arguments[0]); f.value = arguments[1]; f.dispatchEvent(new Event('input'))",
        field,
        text,
    )


def press(chromium, name):
    chromium.execute_script("document.getElementById(arguments[0]).click()", name)


def content_of(page: str) -> dict:
    """The data that a page holds."""
    return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.S)[1])

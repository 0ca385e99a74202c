"""Make judging.png: the page on which people judge, on invented texts. Needs selenium and Pillow."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

import rankbounds as rb
from rankbounds.commands.demo import DATA

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import browser

QUERY = "how do swifts find their nests again"
DESCRIPTION = "What is known of how swifts come back to the nest of the year before?"
TITLE = "Back from Africa, to the same wall"
TEXT = """Swifts spend nine months in the air. When they come back in May, most birds find the nest that they left
in July, often within a day of arriving.

Ringing has shown this for decades. What guides a swift for the last metres is less clear: in towns where a facade
was rebuilt, birds were seen searching the empty wall where the nest had been, which speaks for memory of the place
rather than of the nest itself.

Young birds without a nest fly past occupied ones for a whole summer before they choose one of their own.
"""
PORT = 8899

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    shutil.copy(DATA / "qrels.txt", folder / "qrels.txt")
    runs = DATA / "runs"
    retrieved = [row for run in rb.read_runs(runs) for row in run]
    (folder / "documents.jsonl").write_text(
        "".join(
            json.dumps({"doc_id": doc, "title": TITLE, "text": TEXT}) + "\n"
            for doc in dict.fromkeys(doc for _, doc, _ in retrieved)
        )
    )
    (folder / "queries.jsonl").write_text(
        "".join(
            json.dumps({"query_id": query, "text": QUERY, "description": DESCRIPTION}) + "\n"
            for query in dict.fromkeys(query for query, _, _ in retrieved)
        )
    )
    command = [sys.executable, "-m", "rankbounds", "serve", "qrels.txt", str(runs), "--port", str(PORT)]
    command += ["--queries", "queries.jsonl", "--documents", "documents.jsonl", "--compare", "reranked", "dense"]
    command += ["--judge", "ann", "--judge", "bob", "--grades", "0=off topic,1=related,2=answers"]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    print(server.stderr.readline().strip())
    driver = browser.start(folder / "profile", width=1280, height=960)
    for judge, grades in (("ann", "20201022"), ("bob", "2020002")):
        driver.get(f"http://127.0.0.1:{PORT}/?judge={judge}")
        for grade in grades:
            while "more judgments until" not in driver.find_element("id", "headline").text:
                time.sleep(0.2)
            driver.execute_script("shownAt = -1000")
            driver.find_element("css selector", "body").send_keys(grade)
            time.sleep(0.6)
    while "updating" in driver.find_element("id", "headline").text:
        time.sleep(0.5)
    time.sleep(1)
    shot = Image.open(io.BytesIO(driver.get_screenshot_as_png()))
    driver.quit()
    server.terminate()
    server.wait()
shot.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(
    Path(__file__).with_name("judging.png"), optimize=True
)

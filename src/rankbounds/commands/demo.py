"""The command that shows a small collection, to try things out."""

from __future__ import annotations

from pathlib import Path

from rankbounds.commands import command
from rankbounds.commands.console import output
from rankbounds.commands.console.messages import say
from rankbounds.commands.console.options import Option, Options
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.scores import Scores
from rankbounds.files.writing import make_empty_folder, make_folder, writing
from rankbounds.tables import TABLE_FORMATS, percent

DATA = Path(__file__).parents[1] / "demo"
READING = {
    " +": "  0.4321 +0.0567           the value, and how much unjudged documents could add\n",
    " [": "  0.3100 [0.2800, 0.3500]  the value, and how low and how high judging could move it\n",
    "judged@10": "  judged@10                the share of the top ten documents that were judged\n",
}


@command(
    "demo",
    Option("--write FOLDER", "copy the files to this folder, to try other commands on them", everyday=True),
    *output.OUTPUT,
)
def run_demo(options: Options) -> None:
    """Score a small collection that comes with rankbounds, and explain the table.

      rankbounds demo
      rankbounds demo --write demo

    Five systems, 24 topics. Two things are wrong on purpose: the documents of "dense" were not pooled for judging, and
    "reranked" has scores with two digits, so that many documents are tied. labels.txt holds labels as a model might
    give them, sample.csv a judged sample to audit them, classes.csv a class for each topic.
    """
    if options.write:
        make_empty_folder(Path(options.write))
        files = (path for path in sorted(DATA.rglob("*.*")) if path.is_file() and "__pycache__" not in path.parts)
        for source in files:
            target = Path(options.write) / source.relative_to(DATA)
            make_folder(target.parent)
            with writing(target, "wb") as out:
                out.write(source.read_bytes())
        say(f"wrote the collection's files to {options.write}")
    scores = evaluate(DATA / "qrels.txt", DATA / "runs")
    shown = scores.sort() if options.format in TABLE_FORMATS else scores
    text = shown.render(options.format, raw=options.raw)
    if options.format == "table":
        legend = "".join(words for mark, words in READING.items() if mark in text)
        text = f"$ rankbounds evaluate qrels.txt runs\n\n{text}\nHow to read it\n{legend}\n"
        text += "\n".join(["What it shows", *findings(scores), ""])
    output.write_text(options, text)


def findings(scores: Scores) -> list[str]:
    mean, label = scores.mean(), scores.measures[0]
    bounds = dict(zip(mean.runs, zip(mean.low[:, 0, 0], mean.high[:, 0, 0], strict=True), strict=True))
    judged = dict(zip(mean.runs, mean.judged[:, 0].tolist(), strict=True))
    widest = max(bounds, key=lambda run: bounds[run][1] - bounds[run][0])
    leader = max(bounds, key=lambda run: bounds[run][0])
    low, high = bounds[widest]
    notes = [
        f'  "{leader}" leads: its {label} is at least {bounds[leader][0]:.4f}.',
        f'  But only {percent(judged[widest])} of the top ten documents of "{widest}" were judged: its {label} lies in '
        f"[{low:.4f}, {high:.4f}], so these judgments cannot tell which of the two is better.",
    ]
    moved = {run: note.tie_range for run, note in zip(scores.runs, scores.run_notes, strict=True) if note.tie_range}
    if moved:
        most = max(moved, key=lambda run: moved[run])
        notes.append(f'  The order of tied documents alone can change the {label} of "{most}" by {moved[most]:.4f}.')
    return notes

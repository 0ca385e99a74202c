"""Show what the tool answers, on a small collection that comes with it.

Five systems, 24 topics. Two things are wrong on purpose: "dense" was not among the systems whose documents were judged,
and "reranked" prints probabilities with two digits, so that many documents are tied.
"""

from __future__ import annotations

from pathlib import Path

from rankbounds.commands.messages import say
from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import OUTPUT, write_text
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.scores import Scores
from rankbounds.files.writing import make_empty_folder, make_folder, writing
from rankbounds.tables import TABLE_FORMATS

DATA = Path(__file__).parents[1] / "demo"
READING = """
How to read it
  0.4321 +0.0567           the value, and what unjudged documents could still add to it
  0.3100 [0.2800, 0.3500]  the value, and how low or high it could be once every retrieved document is judged
  judged@10                the share of the first ten documents that somebody judged

What it says
"""


QUESTION = "How do I try things out?", 1
OPTIONS = (
    Option("--write FOLDER", "copy the collection's files there, to try other commands on", file="folder"),
    *OUTPUT,
)


def run(options: Options) -> None:
    """Evaluate the collection and explain the table."""
    if options.write:
        copy_to(Path(options.write))
        say(f"wrote the collection's files to {options.write}")
    scores = evaluate(DATA / "qrels.txt", DATA / "runs", ["RBP(p=0.8)", "AP", "nDCG@10", "P@10"])
    shown = scores.sort() if options.format in TABLE_FORMATS else scores
    text = shown.render(options.format, raw=options.raw)
    if options.format == "table":
        text = "$ rankbounds evaluate qrels.txt runs\n\n" + text + READING + "\n".join(findings(scores)) + "\n"
    write_text(options, text)


def copy_to(folder: Path) -> None:
    """Write the collection's files to a folder that does not hold them yet."""
    make_empty_folder(folder)
    for source in sorted(DATA.rglob("*.*")):
        if source.is_file() and source.parent.name != "__pycache__":
            target = folder / source.relative_to(DATA)
            make_folder(target.parent)
            with writing(target, "wb") as out:
                out.write(source.read_bytes())


def findings(scores: Scores) -> list[str]:
    """What a reader should notice, in sentences made from the numbers."""
    mean = scores.mean()
    rbp = {
        run: (float(low), float(high))
        for run, low, high in zip(mean.runs, mean.low[:, 0, 0], mean.high[:, 0, 0], strict=True)
    }
    judged = dict(zip(mean.runs, mean.judged[:, 0].tolist(), strict=True))
    widest = max(rbp, key=lambda run: rbp[run][1] - rbp[run][0])
    leader = max(rbp, key=lambda run: rbp[run][0])
    told = [
        f'  "{leader}" leads by what is known: RBP(p=0.8) is at least {rbp[leader][0]:.3f}.',
        f'  But only {judged[widest]:.0%} of what "{widest}" shows first was judged: it may be anywhere from '
        f"{rbp[widest][0]:.3f} to {rbp[widest][1]:.3f}, so that nobody can say from these judgments which of the two "
        "is better.",
    ]
    moved = {run: note.tie_range for run, note in zip(scores.runs, scores.notes, strict=True) if note.tie_range}
    if moved:
        most = max(moved, key=lambda run: moved[run])
        told.append(f'  The order of tied documents alone moves "{most}" by {moved[most]:.3f}.')
    return told

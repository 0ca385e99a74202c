"""Draw the figures of docs/unjudged.md from a made-up evaluation: ``python docs/figures/incomplete.py``."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from rankbounds.studies import (  # noqa: E402
    agreement_by_judgment_rate,
    change_by_leaving_a_group_out,
    score_by_judgment_rate,
)
from shared_task import shared_task  # noqa: E402

TASK = {"topics": 40, "documents": 400, "groups": 8, "length": 200, "depth": 30}
MEASURES = ("AP", "nDCG", "RBP(p=0.8)", "AP'", "nDCG'", "RBP'(p=0.8)", "Bpref")


def main() -> None:
    """Draw all."""
    qrels, runs, groups = shared_task(**TASK)
    for study in (score_by_judgment_rate, agreement_by_judgment_rate):
        draw(study, study(qrels, runs, measures=MEASURES))
    alone = change_by_leaving_a_group_out(
        qrels, runs, groups, measures=["AP", "RBP(p=0.8)", "AP'", "Bpref"], depth=TASK["depth"]
    )
    draw(change_by_leaving_a_group_out, alone)


def draw(study, result) -> None:
    """Save the figure of a study under its name."""
    name = study.compute.__name__
    study.draw(result).get_figure().savefig(HERE / f"{name}.png", dpi=200)
    print(name, result.answer)


if __name__ == "__main__":
    main()

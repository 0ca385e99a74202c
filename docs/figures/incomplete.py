"""Draw the figure of docs/unjudged.md from a made-up evaluation: ``python docs/figures/incomplete.py``."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from rankbounds.studies import agreement_by_judgment_rate  # noqa: E402
from shared_task import shared_task  # noqa: E402

TASK = {"topics": 40, "documents": 400, "groups": 8, "length": 200, "depth": 30}
MEASURES = ("AP", "nDCG", "RBP(p=0.8)", "AP'", "nDCG'", "RBP'(p=0.8)", "Bpref")


def main() -> None:
    """Draw the figure."""
    qrels, runs, _ = shared_task(**TASK)
    found = agreement_by_judgment_rate(qrels, runs, measures=MEASURES)
    agreement_by_judgment_rate.draw(found).get_figure().savefig(HERE / "agreement_by_judgment_rate.png", dpi=200)
    print(found.answer)


if __name__ == "__main__":
    main()

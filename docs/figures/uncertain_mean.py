"""Draw the figure of docs/uncertain-mean.md: ``python docs/figures/uncertain_mean.py``."""

from pathlib import Path

import rankbounds as rb
from rankbounds.plots.style import fresh_panels, styled

with styled(None):
    panels = fresh_panels(2, 2, (7.0, 3.6))
    for q, axes in zip((0.05, 0.2, 0.35, 0.5), panels.flat, strict=True):
        rb.plots.rbp_uncertainty(axes, q=[q])
    panels[0, 0].get_figure().savefig(Path(__file__).with_name("one-topic.png"), dpi=130)

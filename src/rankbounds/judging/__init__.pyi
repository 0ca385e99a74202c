"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.judging import pools as pools
from rankbounds.judging.audits.sample import draw_sample as draw_sample
from rankbounds.judging.judges.comparison import compare_judges as compare_judges

__all__: list[str]

"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.checking.bands import rank_safe_depth as rank_safe_depth
from rankbounds.checking.bands import worst_difference as worst_difference
from rankbounds.checking.judgments import describe as describe

__all__: list[str]

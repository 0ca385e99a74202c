"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.stats.power import smallest_p_value as smallest_p_value
from rankbounds.stats.power import topics_needed as topics_needed

__all__: list[str]

"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.rbp.contributions import list_contributions as list_contributions
from rankbounds.rbp.crossings import find_crossings as find_crossings
from rankbounds.rbp.curves import bounds_by_depth as bounds_by_depth
from rankbounds.rbp.curves import bounds_by_persistence as bounds_by_persistence
from rankbounds.rbp.other_persistence import compare_published as compare_published
from rankbounds.rbp.other_persistence import transfer as transfer
from rankbounds.rbp.other_persistence import transfer_weights as transfer_weights
from rankbounds.rbp.planning import fit_persistence as fit_persistence
from rankbounds.rbp.planning import persistence_agreement as persistence_agreement
from rankbounds.rbp.planning import plan as plan
from rankbounds.rbp.published_score import Published as Published
from rankbounds.rbp.published_score import significant_ranks as significant_ranks

__all__: list[str]

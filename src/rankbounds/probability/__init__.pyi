"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.probability.distribution import distribution_of_sum as distribution_of_sum
from rankbounds.probability.models.trusted_labels import label_probabilities as label_probabilities
from rankbounds.probability.probable_differences import differences as differences
from rankbounds.probability.urn import sample_rankings as sample_rankings
from rankbounds.probability.urn import urn_moments as urn_moments

__all__: list[str]

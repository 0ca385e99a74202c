"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.evaluation.mean_intervals import intervals_of_means as intervals_of_means
from rankbounds.stats.planning import TopicPlan as TopicPlan
from rankbounds.stats.planning import plan_topics as plan_topics
from rankbounds.stats.power import minimum_detectable_effect as minimum_detectable_effect
from rankbounds.stats.power import smallest_p_value as smallest_p_value
from rankbounds.stats.power import topics_needed as topics_needed
from rankbounds.stats.rank_correlation import agreement as agreement
from rankbounds.stats.rank_correlation import critical_tau as critical_tau
from rankbounds.stats.rank_correlation import kendall_tau as kendall_tau
from rankbounds.stats.rank_correlation import rank_biased_overlap as rank_biased_overlap
from rankbounds.stats.rank_correlation import spearman as spearman
from rankbounds.stats.rank_correlation import tau_ap as tau_ap
from rankbounds.stats.separation import discriminative_power as discriminative_power
from rankbounds.stats.significance import p_values as p_values
from rankbounds.stats.standardisation import standardise as standardise

__all__: list[str]

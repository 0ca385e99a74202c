"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.probability.urn import simulate as simulate
from rankbounds.studies.moffat_zobel import agreement_by_measure as agreement_by_measure
from rankbounds.studies.moffat_zobel import bounds_by_depth as bounds_by_depth
from rankbounds.studies.moffat_zobel import bounds_by_persistence as bounds_by_persistence
from rankbounds.studies.moffat_zobel import contribution_by_document as contribution_by_document
from rankbounds.studies.moffat_zobel import power_by_measure as power_by_measure
from rankbounds.studies.moffat_zobel import score_by_pool_depth as score_by_pool_depth
from rankbounds.studies.park import coverage_by_relevance_ratio as coverage_by_relevance_ratio
from rankbounds.studies.park import distribution_by_share as distribution_by_share
from rankbounds.studies.park import uncertainty_by_relevance_ratio as uncertainty_by_relevance_ratio
from rankbounds.studies.sakai import agreement_by_alternative as agreement_by_alternative
from rankbounds.studies.sakai import agreement_by_judgment_rate as agreement_by_judgment_rate
from rankbounds.studies.sakai import judgments_by_topic as judgments_by_topic
from rankbounds.studies.sakai import power_by_alternative as power_by_alternative
from rankbounds.studies.sakai import power_by_judgment_rate as power_by_judgment_rate
from rankbounds.studies.sakai import score_by_judgment_rate as score_by_judgment_rate
from rankbounds.studies.yang import change_by_banding as change_by_banding
from rankbounds.studies.yang import loss_by_rho as loss_by_rho
from rankbounds.studies.yang import range_by_ties as range_by_ties
from rankbounds.studies.yang import ties_by_level as ties_by_level
from rankbounds.studies.zhang import deciding_by_persistence as deciding_by_persistence
from rankbounds.studies.zhang import range_by_persistence as range_by_persistence
from rankbounds.studies.zhang import ranks_by_persistence as ranks_by_persistence
from rankbounds.studies.zobel import change_by_leaving_a_group_out as change_by_leaving_a_group_out

__all__: list[str]

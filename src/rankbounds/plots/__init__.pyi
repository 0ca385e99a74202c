"""The figures: a name a line, loaded when first used. Type checkers, editors and the package read it."""

from rankbounds.plots.comparison import differences as differences
from rankbounds.plots.comparison import forest as forest
from rankbounds.plots.comparison import leaderboard as leaderboard
from rankbounds.plots.comparison import similarity_matrix as similarity_matrix
from rankbounds.plots.comparison import topic_differences as topic_differences
from rankbounds.plots.labels import labels_overview as labels_overview
from rankbounds.plots.rbp import bounds_by_depth as bounds_by_depth
from rankbounds.plots.rbp import bounds_by_persistence as bounds_by_persistence
from rankbounds.plots.rbp import contribution_of_ranks as contribution_of_ranks
from rankbounds.plots.rbp import range_over_persistence as range_over_persistence
from rankbounds.plots.rbp import rbp_uncertainty as rbp_uncertainty
from rankbounds.plots.style import draw as draw
from rankbounds.plots.style import save as save

__all__: list[str]

"""The trade-off: which release, among many? Scores, maps, frontiers, and a wizard.

This part knows the registry and the measures, and no masking method by name.
"""

from tacit.core.method import Try as Try
from tacit.tradeoff.attack_gain import AttackGain as AttackGain
from tacit.tradeoff.effort import Effort as Effort
from tacit.tradeoff.file_risk import FileRisk as FileRisk
from tacit.tradeoff.file_risk import Scenario as Scenario
from tacit.tradeoff.frontier import Frontier as Frontier
from tacit.tradeoff.frontier import Point as Point
from tacit.tradeoff.information_kept import InformationKept as InformationKept
from tacit.tradeoff.map_points import frontier_of_policies as frontier_of_policies
from tacit.tradeoff.map_points import frontier_of_tables as frontier_of_tables
from tacit.tradeoff.objective import Condition as Condition
from tacit.tradeoff.plan_search import search as search
from tacit.tradeoff.post_masking import Improvement as Improvement
from tacit.tradeoff.post_masking import optimise as optimise
from tacit.tradeoff.release_wizard import Outcome as Outcome
from tacit.tradeoff.release_wizard import wizard as wizard
from tacit.tradeoff.score import Score as Score
from tacit.tradeoff.space import Between as Between
from tacit.tradeoff.space import Candidate as Candidate
from tacit.tradeoff.space import Varied as Varied
from tacit.tradeoff.swapping import ModelUtility as ModelUtility
from tacit.tradeoff.swapping import SwappingDistortion as SwappingDistortion
from tacit.tradeoff.swapping import SwappingRisk as SwappingRisk
from tacit.tradeoff.swapping import swap_candidates as swap_candidates
from tacit.tradeoff.target import Analysis as Analysis
from tacit.tradeoff.target import Target as Target

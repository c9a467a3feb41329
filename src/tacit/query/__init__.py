"""Queryable databases: the parts of a remote analysis server that answers safely."""

from tacit.query.binning import Cutpoints as Cutpoints
from tacit.query.binning import cutpoints as cutpoints
from tacit.query.drop_q import drop_q_bounds as drop_q_bounds
from tacit.query.drop_q import drop_q_disclosure as drop_q_disclosure
from tacit.query.drop_q import likely_cells as likely_cells
from tacit.query.drop_q import simulate_differencing as simulate_differencing

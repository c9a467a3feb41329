"""Federated analysis: agencies compute together without showing their data."""

from tacit.federated.agency import Agency as Agency
from tacit.federated.analysis import Analysis as Analysis
from tacit.federated.answer import Answer as Answer
from tacit.federated.certificates import Credentials as Credentials
from tacit.federated.certificates import make_certificates as make_certificates
from tacit.federated.client import connect as connect
from tacit.federated.coordinator import Coordinator as Coordinator
from tacit.federated.fixed_point import COUNTS as COUNTS
from tacit.federated.fixed_point import FixedPoint as FixedPoint
from tacit.federated.ledger import Ledger as Ledger
from tacit.federated.policy import Policy as Policy
from tacit.federated.ring import neighbours_learn as neighbours_learn
from tacit.federated.ring import ring_sum as ring_sum
from tacit.federated.server import AgencyServer as AgencyServer
from tacit.federated.simulator import secure_sum as secure_sum
from tacit.federated.simulator import simulate as simulate
from tacit.federated.stopped import LostError as LostError
from tacit.federated.stopped import RefusedError as RefusedError
from tacit.federated.stopped import StoppedError as StoppedError
from tacit.federated.vertical import regress_vertically as regress_vertically

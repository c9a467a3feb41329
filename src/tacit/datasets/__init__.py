"""Synthetic data that look like real files, at any size, the same for the same seed.

No record describes a real unit. `patients` without a size returns the ten records of a published
example; everything else is drawn at random from distributions written down here.
"""

from tacit.datasets.census import census
from tacit.datasets.establishments import establishments
from tacit.datasets.patients import patients
from tacit.datasets.query_log import query_log

__all__ = ["census", "establishments", "patients", "query_log"]

"""Synthetic records from a Bayesian network."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.method import Columns, Try
from tacit.mask.synthesis.network import Network
from tacit.mask.synthesis.originals import Originals, check_none_came_back, forbidden_records
from tacit.mask.synthesis.rules import Combination
from tacit.mask.synthesis.source import jointly_drawn
from tacit.mask.synthesis.synthesisers.model import Settings


class BayesianNetwork(
    Mask,
    key="bayesian-network",
    title="Synthetic data (Bayesian network)",
    cites=("chow1968", "rubin1993"),
    example={"parents": 2},
):
    r"""Replace all records by draws in which each variable depends on a few others only.

    Fewer predictors than `synthesise` uses: a record is not followed into narrow corners, so that
    less of single people is learnt. When not to use it: where a variable depends on many others.

    Edit rules of the schema hold on every record: values that break one are moved to its border.
    Records with a combination that is declared `impossible` are drawn again.

    Missing values: are drawn as they occur. Weights: drawn like a variable and scaled to their
    total. Households: their numbers are not released; records are drawn one by one.

    Notes
    -----
    Variables are ordered, and parents :math:`\Pi_j` chosen, greedily by mutual information, as the
    dependence trees of [chow1968]_ with up to `parents` parents; what chance
    would give is taken off. Records are drawn from

    .. math:: \prod_j f(x_j \mid x_{\Pi_j}),

    each factor being estimated by a tree whose leaves hold at least `leaf` records.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> release = tacit.Plan([mask.BayesianNetwork()]).apply(tacit.datasets.census(300), seed=1)
    >>> release.data.n_records, sum(release.data.broken_constraints().values())
    (300, 0)
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

    parents: Annotated[int, Ge(1), Try(1, 2, 3)] = 2
    """Variables that a variable depends on, at most."""
    leaf: Annotated[int, Ge(2), Try(5, 20, 50)] = 20
    """Records that a conditional distribution rests on, at least."""
    common_category: Annotated[int, Ge(1)] = 2
    """Categories that fewer people or households have are not drawn at all; 1 draws all."""
    m: Annotated[int, Ge(1)] = 1
    """Number of data sets in the release."""
    size: Annotated[int, Ge(1)] | None = None
    """Records to draw; by default as many as there are."""
    originals: Originals = "allowed"
    """Whether a drawn record may equal an original one."""
    originals_on: Columns | None = None
    """Columns to compare for `originals`, keys for instance: with ``originals="no-uniques"`` no
    unique person's keys are replicated. By default all but the weight."""
    impossible: tuple[Combination, ...] = ()
    """Combinations that cannot be (structural zeros): ``{"sex": "male", "pregnant": True}``, or
    conditions: ``[{"column": "age", "comparison": "<", "value": 16}, ...]``."""

    @property
    def n_data_sets(self) -> int:
        """Number of data sets in the release."""
        return self.m

    @property
    def combining(self) -> str:
        """Rule of ``tacit.inference`` for the data sets."""
        return "simple"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return synthetic records."""
        settings = Settings(leaf=self.leaf, common_category=self.common_category)
        forbidden = forbidden_records(data, self.originals, self.originals_on)
        return jointly_drawn(
            data, lambda c: Network.of(c, self.parents, settings, rng), self.size,
            forbidden, rng, self.impossible,
        )  # fmt: skip

    def check_release(self, original: Microdata, released: Microdata) -> None:
        """Refuse records that other steps have made equal to original ones."""
        check_none_came_back(original, released, self.originals, self.originals_on)

    def public_note(self) -> str:
        """Say that no record belongs to anybody."""
        return "All records are synthetic: drawn from a model of which variables go together"

"""Synthetic records from a Gaussian copula."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.method import Columns
from tacit.mask.synthesis.copula import Copula
from tacit.mask.synthesis.originals import Originals, check_none_came_back, forbidden_records
from tacit.mask.synthesis.rules import Combination
from tacit.mask.synthesis.source import jointly_drawn


class CopulaSynthesis(
    Mask,
    key="copula-synthesis",
    title="Synthetic data (Gaussian copula)",
    cites=("patki2016", "rubin1993"),
    example={"originals": "allowed"},
):
    r"""Replace all records by draws with the same margins and the same rank correlations.

    Quick and far from the single records: only margins and one correlation for each pair of
    variables are learnt. When not to use it: where interactions, curved relations or categories
    without an order matter; trees (`synthesise`) keep those.

    Edit rules of the schema hold on every record: values that break one are moved to its border.
    Records with a combination that is declared `impossible` are drawn again.

    Missing values: are drawn as they occur; a missing number lies below all others. Weights: drawn
    like a variable and scaled to their total. Households: their numbers are not released; records
    are drawn one by one.

    Notes
    -----
    Each variable is placed on the uniform scale by its ranks, ties and classes spread at random
    over their share, nominal classes in order of frequency [patki2016]_; with the correlation
    matrix :math:`R` of the normal scores

    .. math:: z \sim N(0, R), \qquad x_j = \hat F_j^{-1}(\Phi(z_j)),

    numbers being drawn between neighbouring values.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> release = tacit.Plan([mask.CopulaSynthesis()]).apply(tacit.datasets.census(300), seed=1)
    >>> release.data.n_records, sum(release.data.broken_constraints().values())
    (300, 0)
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

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
        forbidden = forbidden_records(data, self.originals, self.originals_on)
        return jointly_drawn(
            data, lambda c: Copula.of(c, self.common_category, rng), self.size, forbidden, rng,
            self.impossible,
        )  # fmt: skip

    def check_release(self, original: Microdata, released: Microdata) -> None:
        """Refuse records that other steps have made equal to original ones."""
        check_none_came_back(original, released, self.originals, self.originals_on)

    def public_note(self) -> str:
        """Say that no record belongs to anybody."""
        return "All records are synthetic: drawn from margins and correlations of the original"

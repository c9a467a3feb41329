"""Random order of the records."""

from __future__ import annotations

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.mask._households import household_codes, random_order


class RandomOrder(
    Mask,
    key="random-order",
    title="Random order of the records",
    cites=("truta2003", "templ2015"),
    example={},
):
    """Put the records in random order, so that their place in the file says nothing.

    Files often come in the order of an address, a date or a register; then the neighbours of a
    record, or its place in a file of public names, give it away. Nothing else is changed. When not
    to use it: never harmful, but of no use where another column (a serial number) tells the order.

    Missing values: stay as they are. Weights: stay with their records. Households: broken up unless
    `whole_households` keeps the members one after another, in their old order; then who has no
    household is one of its own.

    Notes
    -----
    Every order has the same probability, :math:`1/t!` for :math:`t` records. The probabilities of
    identification of [truta2003]_ assume this. Use it last in a plan, after methods that add or
    drop records.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.patients()
    >>> ages = tacit.Plan([mask.RandomOrder()]).apply(data, seed=1).frame["Age"]
    >>> ages.equals(data.frame["Age"]), ages.sort().equals(data.frame["Age"].sort())
    (False, True)
    """

    whole_households: bool = False
    """Keep the members of a household one after another."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records in random order."""
        if self.whole_households:
            return data.take(random_order(household_codes(data, by="keeping households"), rng))
        return data.take(rng.permutation(data.n_records))

    def describe(self) -> str:
        """Say in plain words what was done."""
        kept = ", the members of a household one after another" if self.whole_households else ""
        return f"{self.title}: the records were put in random order{kept}"

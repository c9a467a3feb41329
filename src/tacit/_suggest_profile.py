"""What the values of a column look like: the evidence behind `tacit.suggest_roles`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata

_SAMPLE = 10_000
"""Records looked at one by one; counts are always those of the whole file."""
_MATCH = 0.8
"""Share of the values that must have a form before the column is said to have it."""

Form = Literal["text", "integer", "float", "boolean", "date"]

PATTERNS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[^@\s.]+$",
    "account numbers (IBAN)": r"^[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}$",
    "official numbers": (
        r"^(\d{3}-\d{2}-\d{4}|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|\d{8}-?[A-Z]"
        r"|[A-Z]{2} ?(\d{2} ?){3}[A-D]|\d{3}\.\d{3}\.\d{3}-\d{2})$"
    ),
    "card numbers": r"^(\d{4}[ -]?){3}\d{4}$",
    "unique codes (UUID or hash)": (
        r"^([0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{40,128})$"
    ),
    "network addresses": r"^(\d{1,3}(\.\d{1,3}){3}|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2})$",
    "telephone numbers": r"^(\+\d|00?[1-9]|\(\d)[\d\s()./-]{6,18}$",
}
"""Forms of text that only identifiers have."""
_DATE = r"^(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})"
_LEAK = r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}|\b[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}\b"
_PERSON = r"^\p{Lu}[\p{L}'’.-]*,?( \p{L}[\p{L}'’.-]*){0,2} \p{Lu}[\p{L}'’.-]+$"
_CODE = r"^[A-Za-z]{0,6}[-_/ ]?\d{3,}[-_/ ]?[A-Za-z0-9]{0,4}$"


@dataclass(frozen=True)
class Profile:
    """Counts of a column over the whole file, and its values in the first records."""

    column: str
    form: Form
    n_records: int
    n_missing: int
    n_distinct: int
    low: Any
    high: Any
    sample: Any
    """Polars series of the first values, missing ones left out."""

    @property
    def n_present(self) -> int:
        """Number of values that are not missing."""
        return self.n_records - self.n_missing

    @property
    def distinct_share(self) -> float:
        """Distinct values per value: 1 where no value occurs twice."""
        return self.n_distinct / self.n_present if self.n_present else 0.0

    @property
    def all_distinct(self) -> bool:
        """Whether (nearly) every record has its own value, in a file where that means something."""
        return self.n_present >= 5 and self.distinct_share > 0.95

    @property
    def few_values(self) -> bool:
        """Whether the values are few enough to be categories, in a file where that shows."""
        most = max(20, min(60, self.n_present // 200))
        return self.n_present >= 20 and self.n_distinct <= min(most, self.n_present // 3)

    @property
    def repeats(self) -> bool:
        """Whether values occur twice or more on average, in a file of any size."""
        return self.n_distinct * 2 <= self.n_present

    @cached_property
    def entropy(self) -> float:
        """Information in bits that a value carries, from the sample."""
        if not len(self.sample):
            return 0.0
        shares = self.sample.value_counts()["count"].to_numpy() / len(self.sample)
        return float(abs(np.sum(shares * np.log2(shares))))

    def share_matching(self, pattern: str) -> float:
        """Share of the sampled texts that match a regular expression."""
        if self.form != "text" or not len(self.sample):
            return 0.0
        return float(self.sample.str.strip_chars().str.contains(pattern).mean())

    @cached_property
    def pattern(self) -> str | None:
        """The form of identifier that most values have."""
        if self.is_date_text:
            return None
        return next((p for p, r in PATTERNS.items() if self.share_matching(r) >= _MATCH), None)

    @property
    def is_date_text(self) -> bool:
        """Whether the texts are dates."""
        return self.share_matching(_DATE) >= _MATCH

    @property
    def has_leaks(self) -> bool:
        """Whether some texts hold an e-mail address or an account number."""
        return self.share_matching(_LEAK) >= 0.001

    @property
    def is_names(self) -> bool:
        """Whether the texts look like names of persons or firms, most occurring once."""
        return (
            self.n_present >= 5
            and self.distinct_share > 0.6
            and self.share_matching(_PERSON) >= _MATCH
        )

    @property
    def is_free_text(self) -> bool:
        """Whether the values are sentences rather than labels."""
        if self.form != "text" or self.distinct_share < 0.5 or not len(self.sample):
            return False
        return float(self.sample.str.count_matches(r"\s+").mean()) >= 5

    @cached_property
    def is_code(self) -> bool:
        """Whether every record has its own code: a running number, or digits of one length."""
        if not self.all_distinct:
            return False
        if self.form == "text":
            return self.share_matching(_CODE) >= _MATCH
        return self.form == "integer" and (self._counts_up or self._fixed_width)

    @property
    def _counts_up(self) -> bool:
        spread = float(self.high) - float(self.low) + 1
        return spread <= 1.2 * self.n_distinct and bool(self.sample.is_sorted())

    @property
    def _fixed_width(self) -> bool:
        """Whether whole numbers all have the same length and none of the roundness of amounts."""
        if self.n_present < 20 or self.low < 10_000:
            return False
        is_round = float((self.sample % 10 == 0).mean()) > 0.25
        return len(str(int(self.low))) == len(str(int(self.high))) >= 6 and not is_round

    @cached_property
    def in_small_groups(self) -> bool:
        """Whether equal values stand together in small groups, as members of households do."""
        if not 0.08 <= self.distinct_share <= 0.9 or self.n_distinct < 20 or self.form == "float":
            return False
        n_runs = int((self.sample != self.sample.shift()).sum()) + 1
        largest = int(self.sample.value_counts()["count"].max())
        return n_runs == int(self.sample.n_unique()) and largest <= 30


def profiles(data: Microdata) -> list[Profile]:
    """Return the profile of each column: one pass of counts in the engine, and the first rows."""
    schema = data.lazy.collect_schema()
    columns = data.columns
    if not columns:
        return []
    counts = [nw.len().alias("n")]
    for position, name in enumerate(columns):
        column = nw.col(name)
        counts += [
            column.null_count().alias(f"m{position}"),
            column.n_unique().alias(f"d{position}"),
        ]
        if schema[name].is_numeric():
            counts += [column.min().alias(f"l{position}"), column.max().alias(f"h{position}")]
    found = data.lazy.select(counts).collect("polars").rows(named=True)[0]
    head = data.lazy.select(columns).head(_SAMPLE).collect("polars").to_native()
    return [
        _profile(name, schema[name], position, found, head[name])
        for position, name in enumerate(columns)
    ]


def _profile(name: str, dtype: Any, position: int, found: dict[str, Any], head: Any) -> Profile:
    n_missing = int(found[f"m{position}"])
    sample = head.drop_nulls()
    form = _form(dtype, sample)
    return Profile(
        column=name,
        form=form,
        n_records=int(found["n"]),
        n_missing=n_missing,
        # A missing value counts as one of the distinct ones.
        n_distinct=max(0, int(found[f"d{position}"]) - (n_missing > 0)),
        low=found.get(f"l{position}"),
        high=found.get(f"h{position}"),
        sample=sample,
    )


def _form(dtype: Any, sample: Any) -> Form:
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        whole = len(sample) > 0 and bool((sample.cast(float) % 1 == 0).all())
        return "integer" if whole else "float"
    if dtype.is_temporal():
        return "date"
    return "boolean" if dtype == nw.Boolean else "text"

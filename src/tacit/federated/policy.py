"""What an agency allows: partners, analyses, columns and the rules of disclosure control."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Gt, Le

from tacit.core.errors import ParameterError, ReadError
from tacit.core.value import Value


class Policy(Value):
    """Rules of one agency, kept in a TOML file of its own.

    Examples
    --------
    >>> Policy(analyses=("ols",), min_records=50).min_cell
    3
    """

    coordinators: tuple[str, ...] = ()
    """Coordinators that may ask; empty for any whose certificate is good."""
    partners: tuple[str, ...] = ()
    """Agencies with which results may be computed; empty for all of the roster."""
    analyses: tuple[str, ...] = ()
    """Analyses that are allowed; empty for all."""
    columns: tuple[str, ...] = ()
    """Columns that may be used; empty for all that are not identifiers."""
    min_agencies: Annotated[int, Ge(3)] = 3
    """Fewest agencies in a sum; with two, each would learn the other's value."""
    min_records: Annotated[int, Ge(1)] = 10
    """Fewest complete records that this agency contributes."""
    min_cell: Annotated[int, Ge(1)] = 3
    """Smallest count above 0 in this agency's own cells and in the pooled ones."""
    max_leverage: Annotated[float, Gt(0), Le(1)] = 0.5
    """Largest leverage of one record in a regression."""
    max_r_squared: Annotated[float, Gt(0), Le(1)] = 0.999
    """Largest R² of a regression: a perfect fit tells every response."""
    max_told: Annotated[float, Gt(0), Le(1)] = 0.95
    """Largest leverage of one of the agency's records in all that was multiplied with a column."""
    max_computations: Annotated[int, Ge(1)] = 100
    """Most different computations over the same data, those that were refused included."""
    max_per_column: Annotated[int, Ge(1)] = 30
    """Most different computations that use one column."""
    max_refusals: Annotated[int, Ge(1)] = 5
    """Most different questions refused because of the agency's records, before its operator looks:
    each tells a bit about them. A larger number here lets the agency go on."""
    fixed_participants: bool = True
    """Refuse a column to a set of agencies other than the one it was used with before."""
    unchanged_records: bool = True
    """Refuse a column whose values changed since it was used: the difference of both results would
    show the records that did."""
    max_length: Annotated[int, Ge(1)] = 10_000_000
    """Longest vector of a sum."""
    ask: bool = False
    """Ask the operator before joining a computation that the rules allow."""

    @classmethod
    def read(cls, path: Path) -> Policy:
        """Read a policy file."""
        try:
            found: dict[str, Any] = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ReadError("the policy could not be read", got=str(path)) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ParameterError(f"the policy is no TOML: {error}", got=str(path)) from error
        return cls(**found)

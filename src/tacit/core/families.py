"""The families of methods, each with its one verb."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.core.data import Microdata
from tacit.core.measurement import Measurement
from tacit.core.method import Method

if TYPE_CHECKING:
    from tacit.core.release import Release
    from tacit.core.scorecard import Scorecard


class Mask(Method):
    """Turn microdata into safer microdata."""

    family: ClassVar[str] = "mask"
    verb: ClassVar[str] = "apply"

    @abstractmethod
    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the masked records; `data` is left as it is."""

    def kept_together(self, data: Microdata) -> tuple[list[str], list[str]]:
        """Say how to form blocks: columns that must not be mixed, and columns to be similar in.

        By default the records of a block are a random sample, inside the categories that a
        method works ``within``.
        """
        return list(getattr(self, "within", None) or ()), []

    def objection_to_blocks(self) -> str | None:
        """Say why these parameters make no sense block by block, or nothing if they do."""
        return None

    def check_release(self, original: Microdata, released: Microdata) -> None:
        """Refuse a release in which another step has undone what this one promises.

        `original` are the records that the plan was applied to, without their identifiers.
        """
        return None

    calls_for: ClassVar[tuple[str, ...]] = ()
    """Keys of measures that the report of a release must hold beside the default ones."""

    @property
    def n_data_sets(self) -> int:
        """Data sets that a release must hold for users to see how uncertain the values are."""
        return 1


class Measure(Method):
    """What risk and utility measures have in common."""

    verb: ClassVar[str] = "measure"
    default: ClassVar[bool] = True
    """Whether the scorecard holds this measure unless told otherwise."""

    def objection(self, original: Microdata) -> str | None:
        """Say why this measure makes no sense for these data, or nothing if it does."""
        return None

    @abstractmethod
    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Compare a release with its original; some measures also describe data alone."""


class Risk(Measure):
    """Measure what an intruder could learn; lower is better."""

    family: ClassVar[str] = "risk"


class Utility(Measure):
    """Measure what a user has lost or kept."""

    family: ClassVar[str] = "utility"


class Format(Method):
    """Read and write one file format."""

    family: ClassVar[str] = "format"
    verb: ClassVar[str] = "read"
    suffixes: ClassVar[tuple[str, ...]] = ()
    """File endings of this format, with the dot, lower case."""

    @abstractmethod
    def read(self, path: Path) -> Any:
        """Return the file as a frame."""

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new file."""
        from tacit.core.errors import WriteError

        raise WriteError(f"{self.title} files can be read but not written", do="choose CSV")


class Document(Method):
    """Write one document of a release's dossier."""

    family: ClassVar[str] = "document"
    verb: ClassVar[str] = "render"
    filename: ClassVar[str] = ""

    @abstractmethod
    def render(self, release: Release, scorecard: Scorecard) -> str:
        """Return the text of the document."""

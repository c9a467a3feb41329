"""Words of queries and of taxonomies, in one spelling."""

from __future__ import annotations

from typing import Any

# fmt: off
STOP_WORDS = frozenset(
    """
    a about an and are as at be best buy by can cheap do does find for free from get help how i
    in info information is it me my near new of on online or our the to top what when where
    which who why with www you your com http https net org de la le el der die das und y et
    """.split()  # noqa: SIM905 - readable as it is
)
# fmt: on
"""Words that say nothing about the subject of a query; no matcher is asked about them."""


def in_one_spelling(text: Any) -> Any:
    """Bring a Polars expression of text into the form in which terms are compared.

    Compatibility forms are unified, capitals and apostrophes go, all else that is neither
    letter nor digit becomes one space.
    """
    return (
        text.str.normalize("NFKC")
        .str.to_lowercase()
        .str.replace_all(r"['’`´]", "")
        .str.replace_all(r"[^\p{L}\p{M}\p{N}]+", " ")
        .str.strip_chars()
    )

"""Measures in plain words, for people who do not know their names."""

from __future__ import annotations

from tacit.core.errors import TacitError

_PLAIN = {
    "k-anonymity": "Fewest records that look alike to an intruder",
    "sample-uniques": "Records that look like no other",
    "population-uniques": "Records that look like nobody else in the population",
    "identification-risk": "Chance that an intruder names the right record",
    "individual-risk": "Average chance that a record is named rightly",
    "household-risk": "Average chance that somebody of a household is named",
    "distance-linkage": "People whose nearest masked record is their own",
    "probabilistic-linkage": "People matched with their own record by what agrees",
    "rank-linkage": "People found by where their numbers stand in order",
    "microaggregation-linkage": "People found by the groups they would be in",
    "interval-disclosure": "Original numbers close to the masked ones",
    "matching-people": "People who find themselves in the masked data",
    "replicated-uniques": "People alone in both files",
    "extreme-values": "Largest and smallest numbers that can be guessed",
    "l-diversity": "Fewest different secrets among records that look alike",
    "t-closeness": "How much a group of like records tells about its secrets",
    "suda": "Records that few facts already single out",
    "singling-out": "How often a rare trait points to one person",
    "linkability": "How often parts of a record can be put together",
    "membership-inference": "How well one can tell who is in the data",
    "correct-attribution": "Chance to guess a secret from what is known",
    "analytical-validity": "Checks of usefulness that are passed",
    "category-changes": "How far categories moved",
    "contingency-loss": "How far counts in tables moved",
    "information-loss": "How far numbers and their relations moved",
    "probabilistic-loss": "How far statistics moved, beside chance",
    "eigenvalue-loss": "How far the spread of numbers moved",
    "propensity": "How easily masked and original records are told apart",
    "regression-overlap": "How far a regression stays the same",
    "survey-estimates": "How far survey estimates stay the same",
}
"""What a measure says, without its name; those that are not here keep their title."""


def in_words(key: str, title: str) -> str:
    """Return a measure in plain words, its technical name in brackets.

    Examples
    --------
    >>> in_words("k-anonymity", "k-anonymity")
    'Fewest records that look alike to an intruder (k-anonymity)'
    >>> in_words("new-measure", "A new measure")
    'A new measure'
    """
    plain = _PLAIN.get(key)
    if plain is None:
        return title
    return f"{plain} ({title[:1].lower() + title[1:] if title[1:2].islower() else title})"


def explained(key: str) -> str:
    """Return what a measure does, for those who point at it."""
    from tacit.core.method import find

    try:
        return find(key).summary()
    except TacitError:
        return ""

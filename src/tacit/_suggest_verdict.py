"""What a column is, judged from its name and its values."""

from __future__ import annotations

from dataclasses import dataclass

from tacit._suggest_orders import known_order
from tacit._suggest_profile import Profile
from tacit._suggest_words import Concept, concepts_of, tokens
from tacit.core.schema import Kind, Role

_NUMBERED = ("place", "zip code", "sex", "origin")
"""Concepts whose numbers are codes, however many there are."""
_RISING = ("education", "age", "birth")
"""Concepts whose classes and codes rise with their numbers."""


@dataclass(frozen=True)
class Verdict:
    """A role, why, and how sure that is."""

    role: Role
    reason: str
    confidence: float
    concept: str = ""


def verdict_of(profile: Profile) -> Verdict:
    """Return the role the column seems to have: what its name says, or else its values."""
    if profile.n_present == 0:
        return Verdict(Role.NON_CONFIDENTIAL, "has no values", 0.3)
    for concept in concepts_of(profile.column):
        verdict = by_name(concept, profile)
        if verdict is not None:
            return verdict
    return _by_values(profile)


# -- by name ------------------------------------------------------------------------------------


def by_name(concept: Concept, profile: Profile) -> Verdict | None:
    """Return what the name says, unless the values speak against it."""
    sure = {
        Role.WEIGHT: _sure_of_weight,
        Role.HOUSEHOLD: _sure_of_household,
        Role.IDENTIFIER: _sure_of_identifier,
    }.get(concept.role)
    confidence = 0.85 if sure is None else sure(concept, profile)
    if confidence == 0:
        return None
    reason = concept.reason
    if concept.name == "unit number" and not profile.all_distinct:
        reason += ", though values repeat"
    if concept.role == Role.KEY:
        reason += f"; {_variety(profile)}"
    return Verdict(concept.role, reason, confidence, concept.name)


def _sure_of_weight(_concept: Concept, profile: Profile) -> float:
    if profile.form not in ("integer", "float") or profile.low <= 0:
        return 0.0
    words = set(tokens(profile.column))
    if words & {"sampling", "sample", "design", "survey", "person", "final"}:
        return 0.95
    return 0.8 if words & {"household", "hh"} else 0.9


def _sure_of_household(_concept: Concept, profile: Profile) -> float:
    if profile.form not in ("integer", "text") or profile.few_values:
        return 0.0
    return 0.9 if profile.in_small_groups else 0.7


def _sure_of_identifier(concept: Concept, profile: Profile) -> float:
    if profile.form not in ("integer", "text") or profile.few_values:
        return 0.0
    if concept.name == "person's name":
        return 0.85 if profile.form == "text" else 0.0
    if concept.name == "unit number":
        return 0.9 if profile.all_distinct else 0.5
    return 0.95 if concept.name == "official number" or profile.pattern else 0.85


# -- by values ----------------------------------------------------------------------------------


def _by_values(profile: Profile) -> Verdict:
    if profile.n_distinct == 1 and profile.n_present > 1:
        return Verdict(Role.NON_CONFIDENTIAL, "has the same value everywhere", 0.6)
    identifier = _identifying_form(profile)
    if identifier is not None:
        return identifier
    if profile.form == "date" or profile.is_date_text:
        return Verdict(Role.KEY, f"a date, which others may know; {_variety(profile)}", 0.5)
    if profile.in_small_groups:
        return Verdict(Role.HOUSEHOLD, "equal values stand together in small groups", 0.5)
    tiny = profile.form == "integer" and profile.n_present < 20 and profile.repeats
    if profile.form in ("text", "boolean") or profile.few_values or tiny:
        return Verdict(Role.KEY, f"categories that others may know; {_variety(profile)}", 0.5)
    reason = f"a measured number, {profile.n_distinct:,} different values"
    return Verdict(Role.CONFIDENTIAL, reason, 0.5)


def _identifying_form(profile: Profile) -> Verdict | None:
    """Return why the values are those of an identifier, or nothing."""
    if profile.pattern is not None:
        return Verdict(Role.IDENTIFIER, f"the values are {profile.pattern}", 0.95)
    if profile.is_free_text:
        return Verdict(Role.IDENTIFIER, "free text, which may name anybody", 0.6, "free text")
    if profile.is_names:
        return Verdict(Role.IDENTIFIER, "the values look like names", 0.7)
    if profile.is_code:
        return Verdict(Role.IDENTIFIER, "every record has its own code", 0.8)
    if profile.form == "text" and profile.all_distinct and not profile.is_date_text:
        return Verdict(Role.IDENTIFIER, "hardly any value occurs twice", 0.6)
    return None


def _variety(profile: Profile) -> str:
    return f"{profile.n_distinct:,} different values, {profile.entropy:.1f} bits"


# -- kinds --------------------------------------------------------------------------------------


def order_of(profile: Profile, verdict: Verdict) -> tuple[str, ...]:
    """Return the categories of a text in their order, lowest first, where that is known."""
    if profile.form != "text" or verdict.role == Role.IDENTIFIER or not profile.few_values:
        return ()
    values = profile.sample.unique().to_list()
    if len(values) != profile.n_distinct:  # some come later in the file
        return ()
    numbered = verdict.concept in _RISING
    return known_order(values, numbered=numbered) or ()


def kind_of(profile: Profile, verdict: Verdict) -> Kind:
    """Return how the values seem to compare."""
    match profile.form:
        case "date":
            return Kind.DATE
        case "boolean":
            return Kind.NOMINAL
        case "text":
            return Kind.TEXT if verdict.role == Role.IDENTIFIER else Kind.NOMINAL
        case "integer":
            return _kind_of_whole_numbers(profile, verdict)
        case _:
            return Kind.NUMERIC


def _kind_of_whole_numbers(profile: Profile, verdict: Verdict) -> Kind:
    is_code = "".join(tokens(profile.column)).endswith(("code", "kode", "cod"))
    if verdict.role in (Role.IDENTIFIER, Role.HOUSEHOLD) or verdict.concept in _NUMBERED or is_code:
        return Kind.NOMINAL
    is_amount = verdict.concept == "money" and profile.high >= 100
    if verdict.role == Role.WEIGHT or not profile.few_values or is_amount:
        return Kind.NUMERIC
    return Kind.ORDINAL if verdict.concept in _RISING else Kind.NOMINAL

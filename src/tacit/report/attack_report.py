"""The report of an audit: what an intruder would learn, in words a lawyer reads."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any

from tacit.core.measurement import counted

if TYPE_CHECKING:
    from tacit.attack import AttackReport, Finding, Knowledge

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .3rem .6rem;
       border-bottom: 1px solid #ddd; vertical-align: top; }
.leaked { color: #a00; font-weight: 600; } .fine { color: #060; }
article { border-left: 4px solid #a00; padding-left: 1rem; margin: 1.5rem 0; }
.note { color: #555; }
"""


def attack_report(found: AttackReport, *, source: str = "") -> str:
    """Return the report of an audit as one HTML page that asks nothing from outside.

    It answers, for each attack that succeeded, four questions: what was learnt, how likely it is,
    who is affected, and what to change. It names groups of people and cells, and no single value.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> release = tacit.Plan([]).apply(tacit.datasets.census(200), seed=1)
    >>> page = attack_report(attack.audit(release, attacks=[attack.Linkage()]))
    >>> page[:15], "What to change" in page
    ('<!doctype html>', True)
    """
    parts = [
        f"<h1>What an intruder would learn{_of(source)}</h1>",
        f'<p class="note">{_today()}. For the house: it must not be published.</p>',
        _verdict(found),
        "<h2>Who attacks</h2>",
        _list(_intruder(found.knowledge)),
        *_leaks(found),
        "<h2>All attacks</h2>",
        _table(found),
        *_left_out(found),
        *_reading(),
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Attack report</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _of(source: str) -> str:
    return f" from {escape(source)}" if source else ""


def _today() -> str:
    return datetime.now(UTC).strftime("%d %B %Y")


def _verdict(found: AttackReport) -> str:
    n, leaks, also = len(found), len(found.leaks), _unfinished(found)
    tried = f"{counted(n, 'attack')} on {escape(found.target)}"
    if not n:
        nothing = f"No attack applies to {escape(found.target)}; this says nothing about safety."
        return f"<p>{nothing}{also}</p>"
    if found.passed:
        return (
            f'<p class="fine">{tried}: none learnt more than could be guessed without the release. '
            f"Attacks nobody has thought of are not ruled out.{also}</p>"
        )
    return f'<p class="leaked">{tried}: {leaks} learnt more than guessing would.{also}</p>'


def _unfinished(found: AttackReport) -> str:
    if found.complete:
        return ""
    n = counted(len(found.unfinished), "attack")
    return f" {n} did not finish in the time and would have to be run again."


def _intruder(knowledge: Knowledge) -> list[str]:
    """Say what the intruder was taken to know."""
    columns = ", ".join(knowledge.columns) if knowledge.columns else "the columns declared as keys"
    lines = [f"Has a file with {columns}"]
    if knowledge.error or knowledge.coverage < 1:
        lines[0] += (
            f", {100 * knowledge.error:.3g} % of it wrong, about {100 * knowledge.coverage:.3g} % "
            "of the people"
        )
    lines.append("Knows the method" if knowledge.method else "Does not know the method")
    if knowledge.respondent:
        lines.append(f"Pools the answers of {counted(knowledge.coalition, 'respondent')}")
    if knowledge.queries is not None:
        lines.append(f"Asks a server at most {knowledge.queries:,} times")
    return [*lines, *_further(knowledge)]


def _further(knowledge: Knowledge) -> list[str]:
    """Say what else the intruder knows, where it is not the usual."""
    lines = []
    if knowledge.some:
        lines.append(f"Knows {', '.join(sorted(knowledge.some))} of some people only")
    if knowledge.membership < 1:
        lines.append(f"Is {100 * knowledge.membership:.3g} % certain that somebody is in the data")
    if knowledge.known_within is not None:
        lines.append(f"Knows every value of a table within {knowledge.known_within:g} % beforehand")
    if knowledge.excluded != 1:
        ruled = counted(knowledge.excluded, "confidential value")
        lines.append(f"Can rule out {ruled} for a person")
    if knowledge.holdout is not None:
        lines.append("Is compared with people who are not in the data (hold-out)")
    return lines


def _leaks(found: AttackReport) -> list[str]:
    if not found.leaks:
        return []
    return ["<h2>What leaks</h2>", *(_card(finding) for finding in found.leaks)]


def _card(finding: Finding) -> str:
    rows = {
        "What": f"{finding.question}. {finding.worst[:1].upper()}{finding.worst[1:]}.",
        "How likely": f"{_frequency(finding.success.value)} of the attempts succeed: "
        f"{finding.success}. Guessing without the release: {finding.baseline}.",
        "Who is affected": _affected(finding),
        "What to change": finding.remedy,
    }
    if finding.warnings:
        rows["Beware"] = " ".join(finding.warnings)
    lines = "".join(f"<tr><th>{k}</th><td>{escape(v)}</td></tr>" for k, v in rows.items())
    return f"<article><h3>{escape(finding.title)}</h3><table>{lines}</table></article>"


def _frequency(share: float) -> str:
    """Say a share as a natural frequency."""
    if share >= 0.995:
        return "Practically all"
    if share >= 0.9:
        return f"About {round(100 * share)} in 100"
    if share >= 0.1:
        return f"About {round(10 * share)} in 10"
    return f"About {round(1000 * share)} in 1,000" if share >= 0.001 else "Fewer than 1 in 1,000"


def _affected(finding: Finding) -> str:
    unit = finding.unit
    many = "people" if unit == "person" else f"{unit}s"
    first = f"{counted(finding.n_broken, unit, many)}, each more likely broken than not"
    if not finding.n_broken:
        first = f"No single {unit} more likely than not; the chance is spread over all"
    groups: list[dict[str, Any]] = list(finding.details.get("affected", ()))
    if not groups:
        return f"{first}."
    named = "; ".join(
        f"{g['column']} {g['category']} ({100 * g['share']:.3g} % of {g['people']:,})"
        for g in groups
    )
    return f"{first}; most often {named}."


def _table(found: AttackReport) -> str:
    head = "<tr><th>Attack</th><th>Verdict</th><th>Success</th><th>Guessing</th></tr>"
    rows = [
        f'<tr><td>{escape(f.title)}{_beware(f)}</td><td class="{"leaked" if f.leaked else "fine"}">'
        f"{f.verdict}</td><td>{f.success}</td><td>{f.baseline}</td></tr>"
        for f in found
    ]
    return f"<table>{head}{''.join(rows)}</table>"


def _beware(finding: Finding) -> str:
    """Say under an attack that failed what its failure does not show; leaks have it above."""
    if finding.leaked or not finding.warnings:
        return ""
    return f'<br><span class="note">{escape(" ".join(finding.warnings))}</span>'


def _left_out(found: AttackReport) -> list[str]:
    if not found.left_out:
        return []
    lines = [f"{key}: {reason}" for key, reason in found.left_out.items()]
    return ["<h2>Not run</h2>", _list(lines)]


def _list(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _reading() -> list[str]:
    return [
        "<h2>How to read this</h2>",
        "<p>An attack <b>leaks</b> if it succeeds more often than guessing, beyond what chance "
        "explains: the 99 % intervals of the two do not meet. Where guessing does as well, the "
        "release is not to blame. The report shows what these attacks achieve with this knowledge; "
        "it is no proof against others.</p>",
    ]

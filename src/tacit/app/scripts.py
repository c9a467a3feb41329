"""The Python script that does the same as a form, for every step of the work."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.core.method import build

_SEVERAL = {
    "identifier": "identifiers", "key": "keys", "confidential": "confidential",
    "non-confidential": "non_confidential", "stratum": "strata",
}  # fmt: skip
_ONE = ("weight", "household")


def reading_script(about: Mapping[str, Any]) -> str:
    """Write how the data are read and what their columns mean.

    Examples
    --------
    >>> column = {"name": "age", "kind": "numeric", "roles": ["key"]}
    >>> print(reading_script({"data": {"name": "people.csv"}, "columns": [column]}))
    import tacit
    <BLANKLINE>
    data = tacit.read("people.csv").with_kinds(**{
        "age": "numeric",
    }).with_roles(
        keys=["age"],
    )
    <BLANKLINE>
    """
    return _script(["import tacit", "", *_data(about)])


def plan_script(about: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> str:
    """Write how a plan is applied."""
    return _script(["import tacit", "from tacit import mask", "", *_released(about, steps),
                    'release.save("out")'])  # fmt: skip


def attack_script(about: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> str:
    """Write how a release by the same plan is attacked."""
    return _script(["import tacit", "from tacit import attack, mask", "",
                    *_released(about, steps),
                    "for finding in attack.audit(release).findings:",
                    "    print(finding)"])  # fmt: skip


def _released(about: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> list[str]:
    methods = [build(dict(step), "mask") for step in steps]
    lines = [
        f"    mask.{type(method).__name__}({_arguments(method.as_dict())}),"
        for method in methods
    ]  # fmt: skip
    return [*_data(about), "plan = tacit.Plan([", *lines, "])", "release = plan.apply(data)"]


def wizard_script(about: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Write how the wizard is asked."""
    more = f", attacks={_text(asked['attacks'])}" if asked.get("attacks") else ""
    return _script(
        ["import tacit", "from tacit import tradeoff", "", *_data(about),
         f"effort = tradeoff.Effort(evaluations={asked['plans']}, seconds={asked['seconds']:g}, "
         "sample=5000, replicates=2)",
         f"outcome = tradeoff.wizard(data, {_text(asked['target'])}{more}, blur={asked['blur']}, "
         "effort=effort)",
         "print(outcome)", 'outcome.save("out")']
    )  # fmt: skip


def table_script(about: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    """Write how a table is built, protected and attacked."""
    given = {name: value for name, value in plan.items() if value not in (None, {}, [])}
    return _script(
        ["import tacit", "from tacit import tables", "", *_data(about),
         "plan = tables.TablePlan(", *(f"    {n}={_text(v)}," for n, v in given.items()), ")",
         "protected = plan.apply(data)", "print(protected.verify())"]
    )  # fmt: skip


def log_script(about: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Write how a query log is protected."""
    name = str(asked["taxonomy"])
    own = f"logs.read_table({_text(name)})"
    taxonomy = "logs.demonstration()" if name == "demonstration" else own
    return _script(
        ["import tacit", "from tacit import logs", "",
         f"log = logs.QueryLog.of({_read(about['data'])}, columns={_text(asked['columns'])})",
         f"release = logs.anonymize(log, {taxonomy}, k={asked['k']}, levels={asked['levels']})",
         'release.save("out")']
    )  # fmt: skip


def game_script(game: str, epsilon: float) -> str:
    """Write how a game is solved."""
    quoted = game.replace("\\", "\\\\").replace('"""', '\\"""')
    return _script(
        ["from tacit.coprivacy import definitions, game_from_toml", "",
         f'game = game_from_toml("""\\\n{quoted.rstrip()}\n""")',
         "print(game.equilibria())",
         f"print(game.correlated_equilibrium(epsilon={epsilon:g}))",
         "if game.together:",
         "    print(definitions.mixed_coprivacy(game, general=bool(game.parts)))"]
    )  # fmt: skip


def server_script(about: Mapping[str, Any]) -> str:
    """Write how a query server is started with the policy saved as a file."""
    return _script(
        ["from pathlib import Path", "", "import tacit", "from tacit import query", "",
         *_data(about), 'policy = query.Policy.from_toml(Path("policy.toml").read_text())',
         "server = query.Server(data, policy)"]
    )  # fmt: skip


def asking_script(address: str, project: str, request: Mapping[str, Any]) -> str:
    """Write how the same question is asked over REST."""
    return _script(
        ["from tacit.client import Client", "",
         f'client = Client({_text(address)}, "your key: see Your account")',
         f"print(client.ask({_text(project)}, {_text(dict(request))}))"]
    )  # fmt: skip


def _script(lines: Sequence[str]) -> str:
    return "\n".join([*lines, ""])


def _data(about: Mapping[str, Any]) -> list[str]:
    """Read the file, and say of its columns all that was decided about them in the app."""
    columns = about["columns"]
    ordered = {c["name"]: c["categories"] for c in columns if c.get("categories")}
    kinds = {c["name"]: c["kind"] for c in columns if c["name"] not in ordered}
    parts = [
        _called("with_kinds", _entries(kinds), mapping=True),
        _called("with_categories", _entries(ordered), mapping=True),
        _called("with_roles", _roles(columns)),
    ]
    lines = [f"data = {_read(about['data'])}"]
    for first, *rest in filter(None, parts):
        lines[-1] += first
        lines += rest
    return lines


def _read(data: Mapping[str, Any]) -> str:
    """Write where the data are; of a database without the name and the password."""
    if "database" in data:
        return f"tacit.read({_text(data['database'])}, table={_text(data['name'])})"
    return f"tacit.read({_text(data['name'])})"


def _called(method: str, arguments: Sequence[str], *, mapping: bool = False) -> list[str]:
    """Write a call with one argument a line; a mapping takes names that are no words of Python."""
    if not arguments:
        return []
    begin, end = ("(**{", "})") if mapping else ("(", ")")
    return [f".{method}{begin}", *(f"    {argument}," for argument in arguments), end]


def _entries(given: Mapping[str, Any]) -> list[str]:
    return [f"{_text(name)}: {_text(value)}" for name, value in given.items()]


def _roles(columns: Iterable[Mapping[str, Any]]) -> list[str]:
    roles: dict[str, list[str]] = {}
    for column in columns:
        for role in column["roles"]:
            roles.setdefault(role, []).append(column["name"])
    given = [f"{plural}={_text(roles[role])}" for role, plural in _SEVERAL.items() if role in roles]
    return given + [f"{role}={_text(roles[role][0])}" for role in _ONE if role in roles]


def _arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_text(value)}" for name, value in given.items())


def _text(value: Any) -> str:
    """Write a value as people write Python, with double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of Python
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(k)}: {_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)

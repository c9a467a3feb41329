"""Policies: versioned lists of guards with their parameters, which a custodian chooses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge
from pydantic import BeforeValidator, PlainSerializer, model_validator

from tacit.core.atomic import write_text
from tacit.core.errors import ParameterError, PlanError, nearest
from tacit.core.method import build, methods
from tacit.core.value import Value
from tacit.query.binning import Binning
from tacit.query.camouflaged import CamouflageRule
from tacit.query.guard import STAGES, Guard

_FOLDER = "policies"


def _guard(given: Any) -> Guard:
    if isinstance(given, Guard):
        return given
    made = build(given, "guard") if isinstance(given, Mapping) else None
    if not isinstance(made, Guard):
        raise ParameterError("this is not a guard", got=repr(given))
    return made


Guards = Annotated[
    tuple[Annotated[Guard, BeforeValidator(_guard)], ...],
    PlainSerializer(lambda guards: [guard.as_step() for guard in guards]),
]


class CutpointRule(Value):
    """How numeric variables are binned when data are registered."""

    method: Binning = "partitioned"
    """Fixed, minimum, increasing or partitioned bins."""
    minimum: Annotated[int, Ge(1)] = 50
    """Fewest records in a bin."""
    most: Annotated[int, Ge(1)] = 16
    """Most bins of a variable, whatever the number of records."""


class Policy(Value):
    """What a server answers, and what it does to answers.

    Examples
    --------
    >>> policy = Policy.named("strict")
    >>> policy.id
    'strict 1'
    >>> any(guard.key == "cell-key" for guard in policy.guards)
    True
    """

    name: str
    """Short name."""
    version: str = "1"
    """Version; change it with every change of a rule."""
    summary: str = ""
    """What the policy is for, in a sentence."""
    guards: Guards = ()
    """The rules, in order within each stage."""
    hidden: tuple[str, ...] = ()
    """Guards whose parameters users are not told."""
    analyses: tuple[str, ...] = ()
    """Analyses that may be asked; all if empty."""
    cutpoints: CutpointRule = CutpointRule()
    """How numeric variables are binned."""
    rare: Annotated[int, Ge(0)] = 0
    """Categories with fewer records than this are pooled as other."""
    masks: tuple[dict[str, Any], ...] = ()
    """Masking methods applied to the data once, before anybody asks (input perturbation)."""
    blocks: Annotated[int, Ge(0)] = 0
    """If above 0, units are joined once into blocks of so many that no answer ever divides."""
    camouflage: CamouflageRule | None = None
    """If given, numbers are answered with intervals (confidentiality via camouflage)."""
    seconds: Annotated[float, Ge(0)] = 0.0
    """If above 0, answers and refusals are given at multiples of this time only."""
    identities: Literal["none", "pseudonym", "plain"] = "pseudonym"
    """What the audit log keeps of a user."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        keys = [guard.key for guard in self.guards]
        twice = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
        if twice:
            raise ParameterError(
                "a policy names the same guard twice",
                got=twice[0],
                do="keep one, with the stricter parameters",
            )
        unknown = [key for key in self.hidden if key not in keys]
        if unknown:
            raise ParameterError(
                "a policy hides a guard it does not have",
                got=unknown[0],
                do=nearest(unknown[0], keys),
            )
        known = [method.key for method in methods("analysis")]
        for key in self.analyses:
            if key not in known:
                raise ParameterError("there is no such analysis", got=key, do=nearest(key, known))
        return self

    @property
    def id(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"

    def staged(self, stage: str) -> Iterable[Guard]:
        """Return the guards of one stage, in order."""
        if stage not in STAGES:
            raise ParameterError("there is no such stage", got=stage, do=nearest(stage, STAGES))
        return (guard for guard in self.guards if guard.stage == stage)

    def told(self) -> list[str]:
        """Say in words what users may know about the rules."""
        return [g.title if g.key in self.hidden else _in_words(g) for g in self.guards]

    # -- files ----------------------------------------------------------------------------------

    @classmethod
    def named(cls, name: str) -> Policy:
        """Return one of the policies that come with tacit."""
        folder = resources.files("tacit.query") / _FOLDER
        known = sorted(p.name.removesuffix(".toml") for p in folder.iterdir())
        if name not in known:
            raise ParameterError("there is no such policy", got=repr(name), do=nearest(name, known))
        return cls.from_toml((folder / f"{name}.toml").read_text(encoding="utf-8"))

    @classmethod
    def of(cls, given: Policy | str | Path) -> Policy:
        """Return a policy, one that comes with tacit by its name, or one in a TOML file."""
        if isinstance(given, Policy):
            return given
        if isinstance(given, Path) or given.endswith(".toml"):
            return cls.load(given)
        return cls.named(given)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise PlanError("the policy cannot be read", got=str(path)) from error
        except UnicodeDecodeError as error:
            raise PlanError("the policy is not UTF-8 text", got=str(path)) from error
        return cls.from_toml(text)

    @classmethod
    def from_toml(cls, text: str) -> Policy:
        """Read a policy from TOML."""
        try:
            return cls(**tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"the policy is not TOML: {error}") from error

    def to_toml(self) -> str:
        """Write the policy as TOML."""
        import tomli_w

        return tomli_w.dumps(self.as_dict())

    def save(self, path: str | Path) -> Path:
        """Write the policy to a file."""
        write_text(Path(path), self.to_toml())
        return Path(path)


def _in_words(guard: Guard) -> str:
    """Name a guard with all its parameters, those left at their defaults too."""
    given = guard.model_dump(mode="json", exclude_none=True)
    parts = ", ".join(f"{name} = {value}" for name, value in given.items())
    return f"{guard.title}: {parts}" if parts else guard.title

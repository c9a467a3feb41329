"""Frozen, serialisable values: the ground that methods, schemas and plans stand on."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from tacit.core.errors import ParameterError, nearest


class Value(BaseModel):
    """A frozen value whose fields are declared once, with the help text under each field."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, ser_json_inf_nan="strings"
    )

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise ParameterError(_in_our_words(type(self), error)) from error

    def as_dict(self) -> dict[str, Any]:
        """Plain data (strings, numbers, lists, dicts) that rebuilds this value."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def replace(self, **changes: Any) -> Any:
        """Return a copy with some fields changed, validated again."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(fields | changes))


def _in_our_words(owner: type[Value], error: ValidationError) -> str:
    return "; ".join(_one_problem(owner, dict(problem)) for problem in error.errors())


def _one_problem(owner: type[Value], problem: dict[str, Any]) -> str:
    name = getattr(owner, "key", None) or owner.__name__
    path = [str(part) for part in problem["loc"]]
    where = ".".join(path)
    if problem["type"] == "extra_forbidden":
        return f"{name} has no parameter {path[-1]!r}; {nearest(path[-1], owner.model_fields)}"
    if problem["type"] == "missing":
        return f"{name} needs the parameter {where!r}; give it a value"
    message = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if not path:
        return f"{name} {message}"
    return f"{name}: parameter {where!r} {message} (got {problem['input']!r})"

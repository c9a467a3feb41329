"""Frozen, serialisable values: the ground that methods, schemas and plans stand on."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from tacit.core.errors import ParameterError, TacitError, nearest
from tacit.core.field_help import field_help


class Value(BaseModel):
    """A frozen value whose fields are declared once, with the help text under each field."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", defer_build=True
    )

    def __init__(self, /, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise ParameterError(_in_our_words(type(self), error)) from error

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        super().__pydantic_init_subclass__(**arguments)
        for name, text in field_help(cls).items():
            if name in cls.model_fields and cls.model_fields[name].description is None:
                cls.model_fields[name].description = text

    def as_dict(self) -> dict[str, Any]:
        """Plain data (strings, numbers, lists, dicts) that rebuilds this value."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def replace(self, **changes: Any) -> Any:
        """Return a copy with some fields changed, validated again."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(fields | changes))


class Tagged(Value):
    """A value that always says which of several forms it has, in its plain data too."""

    tag: ClassVar[str]
    """The field that names the form."""

    @model_serializer(mode="wrap")
    def _with_tag(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {self.tag: getattr(self, self.tag), **dump(self)}


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
    cause = problem.get("ctx", {}).get("error")
    if isinstance(cause, TacitError):
        return str(cause)
    message = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if not path:
        return f"{name} {message}"
    return f"{name}: parameter {where!r} {message} (got {problem['input']!r})"

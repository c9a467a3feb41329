"""Methods: frozen values with one verb, declared once, found by name in one registry."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator

from tacit.core.engine import AtScale
from tacit.core.errors import ParameterError, UnknownMethodError, nearest
from tacit.core.value import Value

FAMILY_PACKAGES = {
    "mask": ("tacit.mask", "tacit.tables"),
    "risk": ("tacit.risk",),
    "utility": ("tacit.utility",),
    "rule": ("tacit.tables",),
    "protection": ("tacit.tables",),
    "analysis": ("tacit.query",),
    "guard": ("tacit.query",),
    "attack": ("tacit.attack",),
    "format": ("tacit.io.formats",),
    "document": ("tacit.report",),
}
"""Packages whose folders are the catalogue of a family's methods."""
ENTRY_POINTS = "tacit.methods"
"""Entry-point group in which third parties offer modules with methods."""


@dataclass(frozen=True)
class Try:
    """Values worth trying for a parameter: the wizard's search space."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)


def _listed(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError("should name at least one column")
    if len(set(names)) < len(names):
        raise ValueError("should name each column once")
    return names


Columns = Annotated[tuple[str, ...], BeforeValidator(_listed), AfterValidator(_distinct)]
"""One or more column names."""


class Method(Value):
    """A frozen, serialisable value that declares its parameters once and has one verb.

    A family (`Mask`, `Risk`, ...) names the verb; a method is a subclass of a family with a key::

        class Round(Mask, key="round", title="Rounding", cites=("dalenius1981",)):
            '''Round numbers to a multiple of a base.'''
    """

    family: ClassVar[str] = ""
    verb: ClassVar[str] = ""
    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    cites: ClassVar[tuple[str, ...]] = ()
    example: ClassVar[Mapping[str, Any]] = {}
    """Parameters that work on `tacit.datasets.census`."""
    at_scale: ClassVar[AtScale] = "collect"
    """How it works on data beyond memory. ``native`` promises that no records are collected,
    ``blocks`` that what holds of every block holds of all records together."""

    def __init_subclass__(
        cls,
        *,
        key: str = "",
        cites: Iterable[str] = (),
        example: Mapping[str, Any] | None = None,
        at_scale: AtScale | None = None,
        **config: Any,
    ) -> None:
        super().__init_subclass__(**config)
        if at_scale is not None:
            cls.at_scale = at_scale
        cls.key, cls.cites, cls.example = key, tuple(cites), dict(example or {})

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        super().__pydantic_init_subclass__(**arguments)
        if not cls.key:
            return
        cls.title = str(cls.model_config.get("title") or "")
        known = _registry.setdefault(cls.family, {})
        present = known.get(cls.key)
        if present is not None and _address(present) != _address(cls):
            raise ParameterError(
                f"two {cls.family} methods have the key {cls.key!r}",
                got=f"{_address(present)} and {_address(cls)}",
                do="rename one",
            )
        known[cls.key] = cls

    @classmethod
    def summary(cls) -> str:
        """First line of the documentation."""
        return (cls.__doc__ or "").strip().split("\n")[0]

    @classmethod
    def search_space(cls) -> dict[str, tuple[Any, ...]]:
        """Values worth trying for each parameter that declares a `Try`."""
        return {
            name: hint.values
            for name, field in cls.model_fields.items()
            for hint in field.metadata
            if isinstance(hint, Try)
        }

    def describe(self) -> str:
        """Say in plain words what this method does with these parameters."""
        given = ", ".join(f"{name} = {_plain(v)}" for name, v in self.as_dict().items())
        return f"{self.title}: {given}" if given else self.title

    def public_note(self) -> str:
        """Say what users of a release may know about this step; parameters stay inside."""
        return self.title

    def as_step(self) -> dict[str, Any]:
        """Return the method as plain data, with its key under ``method``."""
        return {"method": self.key, **self.as_dict()}


def _address(method: type[Method]) -> str:
    return f"{method.__module__}.{method.__qualname__}"


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


_registry: dict[str, dict[str, type[Method]]] = {}
_loaded: set[str] = set()  # entry-point groups


def discover(package: str, path: Iterable[str]) -> dict[str, type[Method]]:
    """Import every module of a family's folder and return its methods by class name.

    An import error stops the program: a method never silently disappears.
    """
    modules = [
        importlib.import_module(f"{package}.{found.name}")
        for found in pkgutil.iter_modules(list(path))
        if not found.name.startswith("_")
    ]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Method)
        and value.key
        and value.__module__ == module.__name__
    }


def _load(family: str | None) -> None:
    """Import the folders of a family, or of all, and the methods of third parties."""
    for name, packages in FAMILY_PACKAGES.items():
        if family == name or family not in FAMILY_PACKAGES:
            for package in packages:
                importlib.import_module(package)
    if ENTRY_POINTS not in _loaded:
        for point in entry_points(group=ENTRY_POINTS):
            point.load()
        _loaded.add(ENTRY_POINTS)


def methods(family: str | None = None) -> list[type[Method]]:
    """Return all registered methods, or those of one family, sorted by family and key."""
    _load(family)
    if family is not None and family not in _registry:
        raise UnknownMethodError(f"there is no family {family!r}", do=nearest(family, _registry))
    families = [family] if family is not None else sorted(_registry)
    return [_registry[f][key] for f in families for key in sorted(_registry[f])]


def find(key: str, family: str | None = None) -> type[Method]:
    """Return the method of this key, or say which key is nearest.

    Keys are written with hyphens; underscores are understood.

    Examples
    --------
    >>> find("mdav", "mask").title
    'Microaggregation (MDAV)'
    """
    wanted = key.replace("_", "-")
    if family is not None:
        for package in FAMILY_PACKAGES.get(family, ()):  # no more of them than it takes
            importlib.import_module(package)
            if wanted in _registry.get(family, {}):
                return _registry[family][wanted]
    candidates = methods(family)
    for method in candidates:
        if method.key == wanted:
            return method
    raise UnknownMethodError(
        f"there is no {family or 'method'} {key!r}"
        if family is None
        else f"there is no {family} method {key!r}",
        do=nearest(key, (m.key for m in candidates)),
    )


def build(step: Mapping[str, Any], family: str | None = None) -> Method:
    """Make a method from plain data with its key under ``method``."""
    fields = dict(step)
    key = fields.pop("method", None)
    if not isinstance(key, str):
        raise ParameterError("a step needs the name of its method", got=dict(step))
    return find(key, family)(**fields)

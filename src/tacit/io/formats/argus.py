"""The text files of mu-ARGUS and tau-ARGUS."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator

from tacit.core.data import Microdata
from tacit.core.errors import ReadError, TacitError
from tacit.core.families import Format
from tacit.core.hierarchy import Prefixes, Tree
from tacit.core.schema import Kind
from tacit.io.delimited import Delimited, as_utf8, check_utf8
from tacit.io.files import is_gzip, reading, records, writing
from tacit.io.formats._rda import Item, Metadata, read_metadata
from tacit.io.formats.csv import Encoding
from tacit.io.hierarchies import read_hierarchy
from tacit.io.kinds import Misfit, Notation, declared


class Argus(Format, key="argus", title="ARGUS", cites=("hundepool2012",)):
    """Text in fixed or free format (.asc) with its metadata (.rda) beside it.

    The metadata give the columns and also their roles: a variable with an identification level
    above 0 is a key, <WEIGHT> the weight, <HOUSE_ID> (of mu-ARGUS) or <HOLDING> (of tau-ARGUS) the
    household, <RELATED> links a variable to another. <HIERCODELIST>, <HIERLEVELS> and <TRUNCABLE>
    give hierarchies. Codes stay text and keep the blanks before them, as in the hierarchy files; a
    blank field and the codes for missing are missing. A line that is too short is refused.

    Written is the fixed format, with metadata that say nothing of keys or suppression, as mu-ARGUS
    writes its safe files. Missing values become nines, numbers keep up to 10 decimals.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".asc",)
    reads_gzip: ClassVar[bool] = True

    metadata: Annotated[Path, AfterValidator(Path.absolute)] | None = None
    """The .rda file; without it, the one of the same name beside the data."""
    encoding: Encoding = "utf-8"
    """Encoding of data and metadata."""
    hierarchies: bool = True
    """Read the hierarchies that the metadata name."""
    labels: bool = False
    """Put the labels of the <CODELIST> files in place of the codes."""
    types: Mapping[str, Kind] = {}
    """Declared types of columns; they win over the metadata."""

    def read(self, path: Path) -> Any:
        """Return the records with roles, kinds and hierarchies."""
        with reading(path, self.title):
            described = self.described(path)
            table = self._values(path, described)
            labels = self._labels(described)
            for name, texts in labels.items():
                table = table.with_columns(table[name].replace(list(texts), list(texts.values())))
            data = Microdata.of(table)
            try:
                return self._with_meaning(data, described, labels)
            except TacitError as error:
                if isinstance(error, ReadError):
                    raise
                raise ReadError(f"{described.path.name}: {error}") from error

    def described(self, path: Path) -> Metadata:
        """Return what the metadata say."""
        return read_metadata(self._beside(path), self.encoding)

    def _beside(self, path: Path) -> Path:
        if self.metadata is not None:
            if not self.metadata.is_file():
                raise ReadError("there is no such metadata file", got=str(self.metadata))
            return self.metadata
        plain = path.with_suffix("") if is_gzip(path) else path
        found = _find(path.parent, plain.with_suffix(".rda").name)
        if found is None:
            raise ReadError(
                f"there is no metadata file beside {path.name}",
                do=f"put {plain.stem}.rda there, or give metadata=",
            )
        return found

    # -- values ---------------------------------------------------------------------------------

    def _values(self, path: Path, described: Metadata) -> Any:
        """Return the columns as the metadata or the user declare them."""
        import polars as pl

        if described.separator is None:
            table, lines = _fixed(path, described, self.encoding)
        else:
            table, lines = _free(path, described, self.encoding)
        try:
            return pl.DataFrame([self._column(table[i.name], i) for i in described.items])
        except Misfit as misfit:
            raise misfit.as_error(f"line {lines(misfit.record)} of {path.name}") from None

    def _column(self, text: Any, item: Item) -> Any:
        kind = self.types.get(item.name, Kind.NUMERIC if item.is_numeric else Kind.TEXT)
        codes = tuple(code.strip() for code in item.missing)
        bare = text.str.strip_chars()
        present = text.str.strip_chars_end().set(bare.is_in(["", *codes]).fill_null(False), None)
        return declared(present, Kind.TEXT if kind in _CODED else kind, Notation())

    # -- meaning --------------------------------------------------------------------------------

    def _with_meaning(
        self, data: Microdata, described: Metadata, labels: Mapping[str, Mapping[str, str]]
    ) -> Microdata:
        items = described.items
        together = [i.name for tag in ("HOUSE_ID", "HOLDING") for i in items if tag in i.tags]
        data = data.with_roles(
            keys=[i.name for i in items if i.is_key],
            weight=next((i.name for i in items if "WEIGHT" in i.tags), None),
            household=next(iter(together), None),
            linked={i.name: i.word("RELATED") or "" for i in items if "RELATED" in i.tags},
        )
        if not self.hierarchies:
            return data
        trees = {i.name: _hierarchy(i, described, labels.get(i.name, {})) for i in items}
        return data.with_hierarchies(**{n: tree for n, tree in trees.items() if tree is not None})

    def _labels(self, described: Metadata) -> dict[str, dict[str, str]]:
        """Return for each variable with a code list the label of each code."""
        named = {i.name: i.word("CODELIST") for i in described.items} if self.labels else {}
        return {
            name: _code_list(_companion(described, file), self.encoding)
            for name, file in named.items()
            if file is not None
        }

    # -- writing --------------------------------------------------------------------------------

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records in fixed format, with their metadata beside them."""
        from tacit.io.formats._fixed import layout

        with writing(path, self.title):
            lines, described = layout(records(data), data.schema)
            content = lines.encode(self.encoding)
            plain = path.with_suffix("") if is_gzip(path) else path
            path.write_bytes(gzip.compress(content, mtime=0) if is_gzip(path) else content)
            plain.with_suffix(".rda").write_text(described, encoding=self.encoding, newline="\n")


_CODED = (Kind.NOMINAL, Kind.ORDINAL)


def _fixed(path: Path, described: Metadata, encoding: str) -> tuple[Any, Any]:
    """Cut the lines at the positions of the metadata; also return how to find a record's line."""
    import polars as pl

    content = as_utf8(path, encoding)
    check_utf8(path, content)
    lines = pl.read_lines(content[:].removeprefix(b"\xef\xbb\xbf"), row_index_name="number")
    lines = lines.with_columns(pl.col("line").str.strip_chars_end("\r\x1a"))
    lines = lines.filter(pl.col("line") != "")
    needed = max(item.end for item in described.items) - 1
    short = lines.filter(pl.col("line").str.len_chars() < needed)
    if short.height:
        raise ReadError(
            f"line {short['number'][0] + 1} of {path.name} has {len(short['line'][0])} characters, "
            f"not {needed}",
            do="mend the line or the positions in the metadata",
        )
    text = pl.col("line")
    table = lines.select(
        text.str.slice(i.start - 1, i.width).alias(i.name) for i in described.items
    )
    return table, lambda record: lines["number"][record] + 1


def _free(path: Path, described: Metadata, encoding: str) -> tuple[Any, Any]:
    """Split the lines at the separator; also return how to find a record's line."""
    names = [item.name for item in described.items]
    text = Delimited.open(path, encoding, (described.separator or ",",), '"')
    if described.names_in_front:
        header, text = text.without_header()
        if [h.strip().lower() for h in header] != [n.lower() for n in names]:
            raise ReadError(f"the names in {path.name} are not those of {described.path.name}")
    return text.columns(names, ()), lambda record: text.line_of(record, len(names))


def _find(folder: Path, name: str) -> Path | None:
    """Return a file of a folder by name; the case of letters may differ, as on Windows."""
    if (folder / name).is_file():
        return folder / name
    return next((p for p in sorted(folder.iterdir()) if p.name.lower() == name.lower()), None)


def _companion(described: Metadata, name: str) -> Path:
    """Return a file the metadata name, looked for beside them."""
    bare = name.replace("\\", "/").rsplit("/", 1)[-1]
    found = _find(described.path.parent, bare)
    if found is None:
        raise ReadError(
            f"{described.path.name} names a file that is not beside it",
            got=bare,
            do="put it there, or give hierarchies=False and labels=False",
        )
    return found


def _hierarchy(item: Item, described: Metadata, labels: Mapping[str, str]) -> Any:
    """Return the hierarchy that the tags of a variable give, if any."""
    if "HIERCODELIST" in item.tags:
        path = _companion(described, item.word("HIERCODELIST") or "")
        tree = read_hierarchy(path, lead=item.word("HIERLEADSTRING") or "@")
        return Tree(paths=tuple(tuple(labels.get(c, c) for c in p) for p in tree.paths))
    if labels:
        return None
    digits = [int(n) for n in item.tags.get("HIERLEVELS", []) if n.isdigit() and int(n)]
    if len(digits) > 1:
        keep = [sum(digits[:n]) for n in range(len(digits) - 1, 0, -1)]
        return Prefixes(length=sum(digits), keep=(*keep, 0))
    return Prefixes(length=item.width) if "TRUNCABLE" in item.tags and item.width else None


def _code_list(path: Path, encoding: str) -> dict[str, str]:
    """Read a file of codes and labels; the codes keep the blanks before them."""
    text = Delimited.open(path, encoding, (",", ";"), '"')
    return {fields[0].rstrip(): fields[-1].strip() for _, fields in text.records()}

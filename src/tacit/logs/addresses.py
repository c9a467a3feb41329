"""Web addresses made coarser: the host, or the domain that somebody registered."""

from __future__ import annotations

from typing import Any

_SECOND_LEVEL = ("ac", "co", "com", "edu", "go", "gob", "gov", "gv", "mil", "ne", "net", "nom",
                 "or", "org", "sch")  # fmt: skip
"""Labels under which names are registered in countries: co.uk, com.au, ac.jp, ..."""


def hosts(urls: Any) -> Any:
    """Return the host of each address in a Polars series, without ``www``; numbers become missing.

    Examples
    --------
    >>> import polars as pl
    >>> hosts(pl.Series(["http://www.shop.example.co.uk:80/a?q=1", "10.0.0.7/x"])).to_list()
    ['shop.example.co.uk', None]
    """
    import polars as pl

    host = (
        urls.cast(pl.String)
        .str.to_lowercase()
        .str.extract(r"^\s*(?:[a-z][a-z0-9+.-]*:)?(?://)?(?:[^/@?#]*@)?([^/:?#\s]+)")
        .str.strip_chars(".")
        .str.replace(r"^www\d*\.", "")
    )
    named = host.str.contains(r"\p{L}").fill_null(False)
    return pl.select(pl.when(named).then(host)).to_series().rename(urls.name)


def registered_domains(urls: Any) -> Any:
    """Return the registered domain of each address: its last two labels, three in ``co.uk``.

    The rule knows the usual second levels of countries, not the whole list of public suffixes.

    Examples
    --------
    >>> import polars as pl
    >>> registered_domains(pl.Series(["http://anna.blog.example/me", "a.b.co.uk"])).to_list()
    ['blog.example', 'b.co.uk']
    """
    import polars as pl

    labels = pl.col("host").str.split(".")
    country = labels.list.last().str.len_chars() == 2
    second = labels.list.get(-2, null_on_oob=True).is_in(_SECOND_LEVEL).fill_null(False)
    kept = pl.when(country & second).then(3).otherwise(2)
    frame = pl.DataFrame({"host": hosts(urls)})
    return frame.select(labels.list.tail(kept).list.join(".")).to_series().rename(urls.name)

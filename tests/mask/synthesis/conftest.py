"""Columns and the records a synthesiser sees, made from plain lists."""

import polars as pl

import tacit
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.predictors import Coding, Records


def column(values, name="x", **kinds):
    """Return values as a column, with categories in order where they are given."""
    data = tacit.Microdata.of(pl.DataFrame({name: values}))
    if kinds:
        data = data.with_categories(**kinds)
    return Column.of(data.local[name], data.schema[name])


def view(**columns):
    """Return what a model is fitted on: the predictors of all records."""
    coded = [column(values, name) for name, values in columns.items()]
    n = len(coded[0].values)
    return Records.of({c.name: c.values for c in coded}, n).view([Coding.of(c) for c in coded])

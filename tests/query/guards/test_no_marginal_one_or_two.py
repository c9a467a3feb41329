"""Variables whose margins single out one or two units are refused."""

import polars as pl

from tacit.query import NoMarginalOneOrTwo

BY = {"method": "crosstab", "by": ["sex"]}


def with_few(people, few):
    rare = pl.when(pl.col("id") < few).then(pl.lit("X")).otherwise(pl.col("region"))
    return people.with_columns(region=rare)


def test_a_margin_of_one_or_two_is_refused_even_where_it_is_not_chosen(serve, people):
    universe = {"region": "N", "ill": "yes"}
    for few, refused in ((1, True), (2, True), (3, False)):
        answer = serve(with_few(people, few), NoMarginalOneOrTwo()).ask(
            {**BY, "universe": universe}
        )
        assert answer.is_refusal == refused, few


def test_one_variable_has_the_total_as_its_margin(serve, people):
    # A category of one unit alone is no margin of dimension m - 1.
    server = serve(with_few(people, 1), NoMarginalOneOrTwo())
    assert not server.ask({**BY, "universe": {"region": "X"}}).is_refusal
    assert not server.ask(BY).is_refusal
    assert (
        serve(people.head(2), NoMarginalOneOrTwo()).ask({**BY, "universe": {"sex": "f"}}).is_refusal
    )

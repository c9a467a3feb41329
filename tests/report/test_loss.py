"""The information-loss table."""

import math

from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard
from tacit.report._loss import loss_table


def card(details):
    loss = Measurement("information_loss", "Loss", 1.0, "lower", details=details)
    return Scorecard((), (loss,), {}, {})


def test_rows_and_columns_are_named_in_words():
    rows = {
        "X": {"mean_square_error": 1234.5, "mean_absolute_error": math.inf, "mean_variation": 0.2},
        "other": {"mean_square_error": None, "mean_variation": math.nan, "zeros": 3},
    }
    table = loss_table(card({"table": rows, "columns": ["age", "income"]}))
    assert table.columns == ("Average relative change", "Mean absolute error", "Mean square error")
    assert table.rows == (
        ("Values of the records", ("20\xa0%", "∞", "1,230")),
        ("other", ("–", "–", "–")),
    )
    assert table.variables == ("age", "income")


def test_no_table_no_section():
    assert loss_table(card({})) is None
    assert loss_table(Scorecard((), (), {}, {})) is None

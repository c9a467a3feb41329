"""Tables 1 to 3 of Bleninger, Drechsler and Ronning (2011), in shape, on made-up establishments.

The paper attacks every record of a survey in turn, without any rules: with a column made of what
is known about the target, the prediction at the target is its turnover. The figures depend on the
survey, which is confidential; what they show does not. `test_query_models` has the attacks through
the server, and that its rules stop them.
"""

import numpy as np
import polars as pl
import pytest

import tacit

QUANTILES = (0.0, 0.5, 0.75, 0.9, 0.99)
EPSILON = 1e-4


@pytest.fixture(scope="module")
def subsets():
    """All establishments, and the largest of them, from each quantile of size on."""
    frame = tacit.datasets.establishments(12_814).local.with_columns(
        branch=pl.col("nace").str.slice(0, 2), state=pl.col("district").cast(pl.String)
    )
    frame = frame.with_columns(pl.col("legal_form").cast(pl.String))
    sizes = frame["employees"]
    return [frame.filter(sizes >= sizes.quantile(q)) for q in QUANTILES]


def codes(frame, names):
    """Return one number for each combination of background facts."""
    if not names:
        return np.zeros(frame.height, dtype=int)
    rows = np.stack([frame[n].rank("dense").to_numpy() for n in names], axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def errors(predicted, y):
    return np.abs(predicted - y) / y


def dummies(frame, near, names):
    """Attack every record with a dummy of its facts; returns its company and relative errors.

    Regressing on the dummy alone predicts the mean of all records that have its facts.
    """
    size, y = frame["employees"].to_numpy().astype(float), frame["turnover"].to_numpy()
    group = codes(frame, names)
    company, predicted = np.empty(len(y), int), np.empty(len(y))
    for g in np.unique(group):
        at = np.flatnonzero(group == g)
        at = at[np.argsort(size[at], kind="stable")]
        own, total = size[at], np.append(0.0, np.cumsum(y[at]))
        low = np.searchsorted(own, own * (1 - near) - 1e-9)
        high = np.searchsorted(own, own * (1 + near) + 1e-9)
        company[at], predicted[at] = high - low, (total[high] - total[low]) / (high - low)
    return company, errors(predicted, y)


def outliers(frame, names):
    """Attack every record with z = 1 / (|x - x_m| + e), Eq. (1), within its other facts.

    Records of the same size and facts have the same z, so each such group is attacked once.
    """
    size, y = frame["employees"].to_numpy().astype(float), frame["turnover"].to_numpy()
    group = codes(frame, names)
    _, first, which, company = np.unique(
        np.stack([size, group], axis=1),
        axis=0, return_index=True, return_inverse=True, return_counts=True,
    )  # fmt: skip
    centred, predicted = y - y.mean(), np.empty(len(first))
    for some in np.array_split(np.arange(len(first)), max(len(first) // 200, 1)):
        m = first[some]
        z = (group[None] == group[m][:, None]) / (np.abs(size[None] - size[m][:, None]) + EPSILON)
        mean = z.mean(axis=1)
        slope = z @ centred / ((z * z).mean(axis=1) - mean**2) / len(y)
        predicted[some] = y.mean() + slope * (1 / EPSILON - mean)
    which = which.ravel()
    return company[which], errors(predicted[which], y)


def summary(found):
    """Return the share of records identified, and the mean error over all and over those."""
    company, error = found
    return (company == 1).mean(), error.mean(), error[company == 1].mean()


def test_table_1_and_2_artificial_outliers(subsets):
    by_size = np.array([summary(outliers(frame, [])) for frame in subsets])
    with_state = np.array([summary(outliers(frame, ["state"])) for frame in subsets])
    for table in (by_size, with_state):
        identified, everybody, unique = table.T
        assert (np.diff(identified) > 0).all(), "larger establishments are identified more often"
        assert unique.max() < 0.05, "who is identified is predicted; at most 0.036 in the paper"
        assert everybody[0] > 1, "the others are missed by more than 100 %"
        assert everybody[-1] < everybody[0] / 2
    assert (with_state[:, 0] >= by_size[:, 0]).all(), "a second fact identifies more"
    assert (with_state[-2:, 1] <= by_size[-2:, 1]).all(), "and predicts the largest better"
    assert by_size[0, 0] < 0.2  # 0.034 in the paper
    assert by_size[-1, 0] > 0.5  # 0.969


def test_table_3_strategic_dummies(subsets):
    facts = ["state", "legal_form", "branch"]
    shares = []
    for frame in subsets:
        exact = summary(dummies(frame, 0.0, []))
        rows = np.array([summary(dummies(frame, 0.025, facts[:k])) for k in range(4)])
        # The mean error of the identified, the last column, is exactly 0 in the paper as well.
        assert np.nanmax(rows[:, 2], initial=exact[2]) < 1e-9
        assert (np.diff(rows[:, 0]) >= 0).all(), "more facts identify more"
        assert rows[-1, 1] < rows[0, 1], "and predict everybody better"
        shares.append((exact[0], *rows[:, 0]))
    shares = np.array(shares)
    assert (shares[:, 1] <= shares[:, 0]).all(), "the size to 2.5 % tells less than the size"
    assert (np.diff(shares[:, 0]) > 0).all()
    assert shares[-2, -1] > 0.8  # 0.895 of the largest tenth
    assert shares[-1, -1] > 0.9  # 0.953 of the largest hundredth


def test_the_same_records_as_with_outliers_are_identified(subsets):
    """The exact size as a dummy identifies whom it identifies as an outlier (Table 1, Table 3)."""
    for frame in subsets:
        assert np.array_equal(outliers(frame, [])[0] == 1, dummies(frame, 0.0, [])[0] == 1)

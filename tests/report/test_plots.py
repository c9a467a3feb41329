"""The charts of the report, and that they stand where their measurements do."""

import numpy as np
import pytest

import tacit
from tacit import mask, risk, utility
from tacit.report import HtmlReport
from tacit.report._plots import relation_plots, risk_plots


@pytest.fixture(scope="module")
def release():
    data = tacit.datasets.census(400)
    columns = ["income", "taxes", "hours", "age"]
    return tacit.Plan([mask.UncorrelatedNoise(columns=columns, level=0.5)]).apply(data, seed=1)


def keys(plots):
    return [plot.key for plot in plots]


def test_charts_follow_the_measurements(release):
    nothing = release.measure([])
    assert risk_plots(release, nothing) == []
    assert relation_plots(release, nothing) == []
    linked = release.measure([risk.DistanceLinkage(attributes=["age", "income"])])
    assert keys(risk_plots(release, linked)) == ["ranks"]
    counted = release.measure([risk.KAnonymity(), utility.InformationLoss()])
    assert keys(risk_plots(release, counted)) == ["curve"]
    assert keys(relation_plots(release, counted)) == ["correlations", "crossing"]


def test_the_curve_of_class_sizes_is_one_over_them(release):
    card = release.measure([risk.KAnonymity()])
    plot = risk_plots(release, card)[0]
    half = float(np.mean(1 / card["k-anonymity"].per_unit >= 0.5))
    row = next(r for r in plot.rows if r[0] == "50 %")
    assert row[-1] == f"{100 * half:.0f}\N{NO-BREAK SPACE}%"


def test_the_report_holds_the_new_sections_and_stays_small(release):
    html = HtmlReport().render(release, release.measure())
    for part in ("records", "worst", "hurt", "loss", "relations"):
        assert f'<section id="{part}">' in html
        assert f'href="#{part}"' in html
    assert len(html.encode()) < 2_000_000
    for value in release.original.local["income"].to_list()[:50]:
        if value:
            assert f"{value:,.2f}" not in html


def test_unpaired_files_have_no_ranks():
    data = tacit.datasets.census(200)
    release = tacit.Plan([mask.Mdav(columns=["income"], k=3)]).apply(data, seed=1)
    card = release.measure([risk.DistanceLinkage(attributes=["income"])])
    lost = tacit.Plan([mask.Recode(column="age", width=5)]).apply(data, seed=1)
    assert keys(risk_plots(lost, card)) == ["ranks"]
    gone = tacit.Plan().apply(data.drop(["income"]), seed=1)
    assert risk_plots(gone, card) == []

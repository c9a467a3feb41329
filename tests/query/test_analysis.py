"""An analysis is a value that names what it needs."""

from tacit import methods
from tacit.query import Crosstab, Summary
from tacit.query.analysis import Analysis
from tacit.query.universe import Universe


def test_requests_are_values():
    request = Crosstab(by=["sex"], universe={"region": "N"})
    assert request.universe == Universe.where(region="N")
    assert Crosstab(**request.as_dict()) == request
    assert Summary(numbers="income", by="sex").by == ("sex",)


def test_every_analysis_names_its_variables_and_cannot_touch_records():
    found = methods("analysis")
    assert {m.key for m in found} >= {
        "crosstab",
        "summary",
        "histogram",
        "quantiles",
        "chi2",
        "ols",
    }
    for method in found:
        assert issubclass(method, Analysis)
        assert method.title
        if method.example:
            needs = method(**method.example).variables()
            assert needs.categories or needs.numbers

"""Documents of the dossier, one file each, and charts for notebooks.

The charts are functions that return Altair charts: a notebook shows them, `save_png` writes them to
a picture and `save_html` to a page, and the HTML report holds them.
"""

from tacit.core.method import discover
from tacit.report._charts import before_after as before_after
from tacit.report._charts import class_sizes as class_sizes
from tacit.report._charts import risk_bands as risk_bands
from tacit.report._html_chart import save_html as save_html
from tacit.report._png import save_png as save_png
from tacit.report._relation_charts import bivariate as bivariate
from tacit.report._relation_charts import correlation_change as correlation_change
from tacit.report._risk_charts import link_ranks as link_ranks
from tacit.report._risk_charts import risk_curve as risk_curve
from tacit.report.table_release import TableRelease as TableRelease
from tacit.report.table_report import table_report as table_report

_CHARTS = [
    "before_after", "bivariate", "class_sizes", "correlation_change", "link_ranks", "risk_bands",
    "risk_curve", "save_html", "save_png", "TableRelease", "table_report",
]  # fmt: skip
_found = discover(__name__, __path__)
globals().update(_found)
__all__ = sorted([*_found, *_CHARTS])

"""Documentation turned into something to read."""

from tacit.core.families import Risk
from tacit.report._definition import definition, formula


class Documented(Risk):
    r"""Say ``something`` in one line.

    Notes
    -----
    The value :math:`x_1 < 2` of `Thing` is *small* :footcite:p:`sweeney2002`, see
    [truta2003]_ & others:

    .. math::

        \frac{a}{b}

    - one item
    - ``another``

    Examples
    --------
    >>> 1
    1
    """

    def measure(self, original, release=None):
        raise NotImplementedError


def test_notes_become_paragraphs_formulas_and_lists():
    found = definition(Documented)
    html = " ".join(found.body)
    assert found.summary == "Say something in one line."
    assert "(Sweeney 2002)" in html
    assert "Truta, Fotouhi and Barth-Jones 2003" in html
    assert "&amp; others" in html
    assert "<math" in html
    assert "<li>one item</li>" in html
    assert "<em>small</em>" in html
    assert ">>>" not in html


def test_a_method_without_notes_has_a_summary():
    class Bare(Risk):
        """One line."""

        def measure(self, original, release=None):
            raise NotImplementedError

    assert definition(Bare).body == ()


def test_a_formula_that_cannot_be_drawn_is_shown_as_written():
    assert formula(r"\nonsense < 1") == '<code class="formula">\\nonsense &lt; 1</code>'


def test_arguments_without_braces_are_read_as_latex_does():
    assert formula(r"\tfrac15 x") == formula(r"\tfrac{1}{5} x")
    assert "<mn>15</mn>" not in formula(r"\frac15 (x)")


def test_without_docutils_formulas_are_shown_as_written(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "docutils.utils.math.latex2mathml", None)
    assert formula("a < b") == '<code class="formula">a &lt; b</code>'

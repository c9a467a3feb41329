"""The ledger refuses when too many numbers speak of the same units, and asking again is free."""

from tacit.query import CellKeyNoise, DrawLedger, NearCells


def test_the_limit(serve, people):
    server = serve(people, NearCells(minimum=5), CellKeyNoise(), DrawLedger(limit=9))
    requests = [{"method": "crosstab", "by": by} for by in (["sex"], ["region"], ["ill"])]
    assert not any(server.ask(r).is_refusal for r in requests)
    # Each draws its cells; the first also the total.
    assert server._state.ledger.of("count").max() == 4
    assert not any(server.ask(r).is_refusal for r in requests * 5)
    # Cells of the two-way table are new, its margins are not.
    assert not server.ask({"method": "crosstab", "by": ["sex", "region", "ill"]}).is_refusal
    assert server._state.ledger.of("count").max() == 8
    refused = [server.ask({"method": "crosstab", "by": ["age", "sex"]}) for _ in range(2)]
    assert all(r.rule == "ledger" for r in refused)


def test_totals_have_a_ledger_of_their_own(serve, people):
    server = serve(people, NearCells(), CellKeyNoise(), DrawLedger(limit=4))
    server.ask({"method": "crosstab", "by": ["sex"], "totals": ["income"]})
    assert server._state.ledger.of("income").max() == 2


def test_cells_are_counted_by_the_variables_that_tell_them_apart(serve, people):
    most = 9 / people.height  # of every variable nine cells
    server = serve(people, NearCells(minimum=5), CellKeyNoise(), DrawLedger(cells_per_unit=most))
    assert not server.ask({"method": "crosstab", "by": ["sex"]}).is_refusal
    assert not server.ask({"method": "crosstab", "by": ["sex", "ill"]}).is_refusal
    told = server._state.ledger.about
    assert (told["sex"], told["ill"]) == (6, 6)
    assert not server.ask({"method": "crosstab", "by": ["sex", "ill"]}).is_refusal  # told before
    refused = server.ask({"method": "crosstab", "by": ["region", "sex"]})
    assert refused.rule == "ledger"
    assert not server.ask({"method": "crosstab", "by": ["region"]}).is_refusal


def test_a_condition_tells_cells_apart_too(serve, people):
    most = 5 / people.height
    server = serve(people, NearCells(minimum=5), CellKeyNoise(), DrawLedger(cells_per_unit=most))
    women = {"method": "crosstab", "by": ["ill"], "universe": {"sex": "f"}}
    assert not server.ask(women).is_refusal
    assert server._state.ledger.about["sex"] == 3
    assert server.ask({**women, "universe": {"sex": "m"}}).rule == "ledger"


def test_totals_speak_of_what_is_added_up_and_of_what_divides_it(serve, people):
    server = serve(people, NearCells(minimum=5), CellKeyNoise(), DrawLedger(cells_per_unit=1.0))
    told = server._state.ledger.about
    server.ask({"method": "crosstab", "by": ["sex"]})
    assert (told["sex"], told["income"]) == (2, 0)
    # The cells were released before, their totals were not: two cells, and the margin.
    server.ask({"method": "crosstab", "by": ["sex"], "totals": ["income"]})
    assert (told["sex"], told["income"]) == (2 + 2, 2 * 3)
    server.ask({"method": "crosstab", "by": ["sex"], "totals": ["income"]})
    assert (told["sex"], told["income"]) == (4, 6)
    server.ask({"method": "summary", "numbers": ["age"], "by": ["sex"]})
    assert (told["sex"], told["age"]) == (4 + 2 * 2, 2 * 3)


def test_a_variable_ends_by_all_its_totals_together(serve, people):
    most = 8 / people.height
    server = serve(people, NearCells(minimum=5), CellKeyNoise(), DrawLedger(cells_per_unit=most))
    total = {"method": "crosstab", "totals": ["income"]}
    assert not server.ask({**total, "by": ["sex"]}).is_refusal
    assert server.ask({**total, "by": ["region"]}).rule == "ledger"
    assert not server.ask({"method": "crosstab", "by": ["region"]}).is_refusal

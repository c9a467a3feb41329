"""Attack three versions of the same file and print what each gives away."""

import tacit
from tacit import attack, mask

data = tacit.datasets.census(1000)
plans = {
    "as it is": tacit.Plan([]),
    "rank swapped": tacit.Plan([mask.RankSwap(columns=["age", "income", "taxes"], p=10)]),
    "5-anonymous": tacit.Plan([mask.Mondrian(k=5)]),
}
for name, plan in plans.items():
    report = attack.audit(plan.apply(data, seed=1), seconds=60)
    print(f"== {name}\n{report.summary()}")

"""Synthetic data: five data sets, one regression, and what an intruder could learn."""

import tacit
from tacit import inference, mask, risk

data = tacit.datasets.census(5000)
release = tacit.Plan([mask.Synthesise(m=5)]).apply(data, seed=1)
model = inference.Regression("income", ["age", "hours", "sex"])
print(inference.compare(release, model).frame)
for measure in (risk.ReplicatedUniques(), risk.MatchingPeople(), risk.SinglingOut()):
    print(measure.title, "-", measure.measure(data, release).explanation)

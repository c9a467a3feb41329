"""Three hospitals compute a regression together; run ``python examples/hospitals.py``."""

import numpy as np
import polars as pl

from tacit import federated


def records(seed: int, size: int) -> pl.DataFrame:
    """Make up the patients of one hospital."""
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 12, size)
    return pl.DataFrame({"age": age, "stay": 2 + 0.1 * age + rng.normal(0, 1.5, size)})


def main() -> None:
    """Fit the model, then show a request that is refused."""
    hospitals = {"north": records(1, 120), "south": records(2, 80), "west": records(3, 200)}
    print(federated.simulate(hospitals, "ols", y="stay", x=["age"]))
    strict = {"south": federated.Policy(min_records=100)}
    try:
        federated.simulate(hospitals, "ols", y="stay", x=["age"], policy=strict)
    except federated.StoppedError as stopped:
        print(stopped)


if __name__ == "__main__":
    main()

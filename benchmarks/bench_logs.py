"""Query logs: the evaluation of ODP (Erola et al., 2011), its figures, and time against size.

``python benchmarks/bench_logs.py`` prints the tables; ``--plots`` also writes the figures to
``docs/images``; ``--large`` adds 100,000 users; ``--aol`` adds a file of AOL's size (21 million
lines), written to and read from a scratch folder.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

import tacit
from tacit import logs
from tacit.logs.profiles import classify
from tacit.logs.saving import write_log

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
LEVELS, SIZES = range(1, 6), (2, 3, 4, 5)


def remain_table(log, taxonomy) -> tuple[str, list[dict]]:
    """SRP by level, k and number of categories (ODP, Figure 3)."""
    rows, values = [], []
    for categories in (1, 5):
        for k in SIZES:
            release = logs.anonymize(
                log, taxonomy, k=k, levels=5, categories=categories, cleaning=None, seed=1
            )
            found = logs.semantic_remain(release).details["by_level"]
            rows.append([categories, k, f"{1 / k:.3f}", *(f"{v:.3f}" for v in found)])
            values += [
                {"k": k, "level": level, "srp": v, "bound": 1 / k, "categories": str(categories)}
                for level, v in zip(LEVELS, found, strict=True)
            ]
    header = ["categories", "k", "1/k", *(f"level {level}" for level in LEVELS)]
    return markdown(header, rows), values


def yardstick_table(log, taxonomy) -> str:
    """SRP with grouping and measure varied apart: how much of Figure 3 is the measure's doing."""
    rows = []
    for k in (3, 5):
        for grouped in (1, 5):
            releases = [
                logs.anonymize(
                    log, taxonomy, k=k, levels=5, categories=grouped, cleaning=None, seed=seed
                )
                for seed in (1, 2, 3)
            ]
            for judged in (1, 5):
                found = [
                    logs.semantic_remain(release, categories=judged).details["by_level"]
                    for release in releases
                ]
                mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
                rows.append([k, grouped, judged, *(f"{v:.3f}" for v in mean), f"{spread[4]:.3f}"])
    header = ["k", "grouped with", "judged with", *(f"level {level}" for level in LEVELS),
              "sd of level 5"]  # fmt: skip
    return markdown(header, rows)


def classified_table(log, taxonomy) -> tuple[str, list[dict]]:
    """Share of lines that have a category at each level (ODP, Figure 2)."""
    values = []
    for categories in (1, 5):
        found = classify(log.queries, taxonomy, levels=6, categories=categories)
        shares = found.share_classified(log.counts())
        values += [
            {"level": level, "share": share, "categories": str(categories)}
            for level, share in enumerate(shares, 1)
        ]
    rows = [[v["categories"], v["level"], f"{100 * v['share']:.1f} %"] for v in values]
    return markdown(["categories", "level", "lines classified"], rows), values


def time_table(log, taxonomy) -> tuple[str, list[dict]]:
    """CPU time by level and categories, 1,000 users, k = 3 (ODP, Figure 4)."""
    rows, values = [], []
    for categories in (1, 5):
        for levels in LEVELS:
            seconds = cpu_seconds(
                lambda c=categories, n=levels: logs.anonymize(
                    log, taxonomy, k=3, levels=n, categories=c, cleaning=None, seed=1
                ),
                repeats=3,
            )
            rows.append([categories, levels, f"{seconds:.2f}"])
            values.append({"levels": levels, "seconds": seconds, "categories": str(categories)})
    return markdown(["categories", "levels", "CPU s"], rows), values


def growth_table(taxonomy, sizes: tuple[int, ...], **options) -> str:
    """Time against the number of lines, with the share of the partition."""
    rows, lines, taken = [], [], []
    for n in sizes:
        log = logs.QueryLog.of(tacit.datasets.query_log(n))
        started, cpu = time.perf_counter(), time.process_time()
        release = logs.anonymize(log, taxonomy, k=3, levels=5, seed=1, **options)
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        share = release.seconds["partition"] / sum(release.seconds.values())
        remain = logs.semantic_remain(release).value
        lines.append(log.n_lines)
        taken.append(cpu)
        rows.append([f"{n:,}", f"{log.n_lines:,}", f"{wall:.1f}", f"{cpu:.1f}",
                     f"{100 * share:.0f} %", f"{100 * remain:.1f} %",
                     f"{peak_megabytes():,.0f}"])  # fmt: skip
    rows.append(["growth", "", "", f"lines^{growth_exponent(lines, taken):.2f}", "", "", ""])
    header = ["users", "lines", "wall s", "CPU s", "share of partition", "SRP", "peak MB"]
    return markdown(header, rows)


def aol_sized(taxonomy) -> str:
    """Read and protect a file of AOL's size: 650,000 users, 21 million lines."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "log.txt"
        write_aol_sized(path, 650_000, 21_000_000)
        started = time.perf_counter()
        log = logs.read(path)
        rows.append(["read", f"{time.perf_counter() - started:.0f}", f"{peak_megabytes():,.0f}"])
        started = time.perf_counter()
        release = logs.anonymize(log, taxonomy, k=3, levels=5, seed=1, block=2000)
        rows.append(["protect", f"{time.perf_counter() - started:.0f}",
                     f"{peak_megabytes():,.0f}"])  # fmt: skip
        started = time.perf_counter()
        write_log(release, Path(scratch) / "out.txt")
        rows.append(["write", f"{time.perf_counter() - started:.0f}",
                     f"{peak_megabytes():,.0f}"])  # fmt: skip
        rows += [[f"of which {part}", f"{s:.0f}", ""] for part, s in release.seconds.items()]
    rows.append([repr(log), "", ""])
    return markdown(["part", "wall s", "peak MB"], rows)


def write_aol_sized(path: Path, n_users: int, n_lines: int) -> None:
    """Write a log of subjects with random words around them, ten million distinct queries."""
    rng = np.random.default_rng(1)
    subjects = pl.Series([p[1] for p in tacit.datasets.query_log(1).schema["query"]
                          .hierarchy.paths]).unique(maintain_order=True)  # fmt: skip
    favourite = rng.integers(0, 10, n_users)
    first, chunk = True, 1_000_000
    with path.open("wb") as handle:
        for start in range(0, n_lines, chunk):
            user = np.sort(rng.integers(start * n_users // n_lines,
                                        (start + chunk) * n_users // n_lines, chunk))  # fmt: skip
            topic = np.where(rng.random(chunk) < 0.6, favourite[user], rng.integers(0, 10, chunk))
            subject = subjects.gather(topic * 12 + np.minimum(rng.geometric(0.25, chunk), 12) - 1)
            tail = pl.Series(rng.integers(0, 4_000_000, chunk)).cast(pl.String)
            rare = pl.Series(rng.random(chunk) < 0.5)
            frame = pl.DataFrame({"AnonID": user, "s": subject, "t": tail, "r": rare}).select(
                "AnonID",
                Query=pl.when("r").then(pl.concat_str("s", pl.lit(" w"), "t")).otherwise("s"),
                QueryTime=pl.lit("2006-03-01 07:17:12"), ItemRank=pl.lit(""), ClickURL=pl.lit(""),
            )  # fmt: skip
            frame.write_csv(handle, separator="\t", include_header=first, quote_style="never")
            first = False


def save_plots(classified, remain, times) -> None:
    """Write the counterparts of Figures 2 to 4 of ODP."""
    import altair as alt

    colour = alt.Color("categories:N", title="categories of a term", scale={"scheme": "set1"})
    percent = alt.Axis(format="%")
    share = alt.Y("share:Q", title="lines classified", axis=percent, scale={"domain": [0, 1]})
    two = (
        alt.Chart(alt.Data(values=classified)).mark_bar()
        .encode(x=alt.X("level:O"), xOffset="categories:N", y=share, color=colour)
        .properties(width=320, height=180)
    )  # fmt: skip
    srp = alt.Y("srp:Q", title="semantic remain", axis=percent, scale={"domain": [0, 1]})
    base = alt.Chart(alt.Data(values=remain))
    lines = base.mark_line(point=True).encode(x=alt.X("level:O"), y=srp, color=colour)
    limit = base.mark_line(strokeDash=[4, 3], color="#555").encode(x="level:O", y="bound:Q")
    three = (limit + lines).properties(width=150, height=150).facet(
        column=alt.Column("k:O", title="users who share a log, k (dashed: 1/k)")
    )  # fmt: skip
    four = (
        alt.Chart(alt.Data(values=times)).mark_line(point=True)
        .encode(x=alt.X("levels:O"), y=alt.Y("seconds:Q", title="CPU seconds"), color=colour)
        .properties(width=320, height=180)
    )  # fmt: skip
    for name, chart in (("classified", two), ("remain", three), ("time", four)):
        tacit.report.save_png(chart, IMAGES / f"query-logs-{name}.png", scale=1.5)


def main() -> None:
    taxonomy = logs.demonstration()
    log = logs.QueryLog.of(tacit.datasets.query_log(1000))
    logs.anonymize(log, taxonomy, k=3, seed=1).measure()  # compile
    print(f"{log!r}\n\n## Classified lines (Figure 2)\n")
    table, classified = classified_table(log, taxonomy)
    print(f"{table}\n\n## Semantic remain percentage (Figure 3)\n")
    table, remain = remain_table(log, taxonomy)
    print(f"{table}\n\n## The same with one yardstick, means of three seeds\n")
    print(f"{yardstick_table(log, taxonomy)}\n\n## Time by level (Figure 4)\n")
    table, times = time_table(log, taxonomy)
    print(f"{table}\n\n## Time by size, k = 3, blocks of 1,000 users\n")
    print(growth_table(taxonomy, (1000, 2000, 4000, 8000), block=1000), flush=True)
    if "--plots" in sys.argv:
        save_plots(classified, remain, times)
    if "--large" in sys.argv:
        print("\n## 100,000 users, blocks of 5,000\n\n", growth_table(taxonomy, (20_000, 100_000)),
              flush=True)  # fmt: skip
    if "--aol" in sys.argv:
        print("\n## A file of AOL's size\n\n", aol_sized(taxonomy))


if __name__ == "__main__":
    main()

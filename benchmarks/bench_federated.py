"""Federated analysis: long sums, message sizes, processes over TLS, MPyC for the same sum.

``--processes`` starts 3, 5 and 20 agencies as processes; ``--large`` sums vectors of 10^6 numbers.
``--only sums,messages,processes,vertical,peer`` runs some of the parts.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from measuring import markdown, peak_megabytes

from tacit import federated
from tacit.federated.analyses.vector import Vector
from tacit.federated.analysis import analysis_from
from tacit.federated.coordinator import Coordinator
from tacit.federated.simulator import InProcess, agencies

_PEER = Path(__file__).resolve().parents[1] / ".venv-peers" / "bin" / "python"
_MPYC = """
import sys, time, logging, resource
logging.disable(logging.WARNING)
import numpy as np
from mpyc.runtime import mpc
n = int(sys.argv[-1])
async def main():
    await mpc.start()
    m = len(mpc.parties)
    secint = mpc.SecInt(64)
    x = np.arange(n) + mpc.pid
    started, busy = time.time(), time.process_time()
    shares = mpc.input(secint.array(x))
    total = shares[0]
    for other in shares[1:]:
        total = total + other
    out = await mpc.output(total)
    taken, busy = time.time() - started, time.process_time() - busy
    right = bool((np.asarray(out).astype(np.int64) == m * np.arange(n) + m * (m - 1) // 2).all())
    sent = sum(p.protocol.nbytes_sent for p in mpc.parties if p.pid != mpc.pid)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(sys.argv[-2] + str(mpc.pid), "w") as file:
        print(taken, busy, right, 2 * sent, memory, file=file)
    await mpc.shutdown()
mpc.run(main())
"""
_AGENCY = """
import sys
from pathlib import Path
import numpy as np
from tacit.federated import Agency, AgencyServer, Credentials, Policy
own, number, size = Credentials(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
vector = np.arange(size, dtype=float) + number
agency = Agency(own.identity(), vector, own.roster(), policy=Policy(max_length=size))
server = AgencyServer(agency, own, ("127.0.0.1", 0))
print(f"port {server.port}", file=sys.stderr, flush=True)
server.serve_forever()
"""
"""An agency that holds a vector, as a process of its own."""


class Timed(InProcess):
    """A channel that counts the CPU seconds of its agency."""

    seconds = 0.0

    def send(self, request: bytes) -> bytes:
        started = time.process_time()
        reply = super().send(request)
        self.seconds += time.process_time() - started
        return reply


def sums() -> None:
    sizes = (10_000, 100_000, 1_000_000) if "--large" in sys.argv else (10_000, 100_000)
    rng, rows = np.random.default_rng(1), []
    for name, encoding in (("counts, 8 bytes", federated.COUNTS),
                           ("numbers, 16 bytes", federated.FixedPoint(words=2, fraction_bits=40)),
                           ("numbers, 32 bytes", federated.FixedPoint())):  # fmt: skip
        for size in sizes:
            vectors = rng.integers(0, 1000, (10, size)).astype(float)
            members = agencies(list(vectors), federated.Policy(max_length=size))
            channels = {a.name: Timed(a) for a in members}
            coordinator = Coordinator(channels, encoding=encoding, workers=1)
            clock, cpu = time.perf_counter(), time.process_time()
            answer = coordinator.run(Vector(size=size))
            clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
            right = np.array_equal(answer["sum"], vectors.sum(axis=0))
            each = sum(c.seconds for c in channels.values()) / 10
            rows.append([name, f"{size:,}", f"{clock:.2f}", f"{cpu:.2f}", f"{each:.2f}",
                         f"{cpu - 10 * each:.2f}", "yes" if right else "NO"])  # fmt: skip
    header = ["10 agencies", "length", "wall s", "CPU s", "CPU s per agency", "CPU s coordinator",
              "exact"]  # fmt: skip
    print(markdown(header, rows))
    print(f"\npeak memory of all eleven in one process: {peak_megabytes():,.0f} MB\n")


def _frames(k: int, n: int = 200) -> dict[str, pl.DataFrame]:
    rng, frames = np.random.default_rng(k), {}
    for i in range(k):
        x = rng.normal(50, 10, (n, 5))
        y = x @ np.array([0.3, -0.2, 0.1, 0.0, 0.5]) + rng.normal(0, 3, n)
        event = (rng.random(n) < 1 / (1 + np.exp(-(x[:, 0] - 50) / 20))).astype(int)
        frames[f"agency-{i:02d}"] = pl.DataFrame(
            {**{f"x{j}": x[:, j] for j in range(5)}, "y": y, "event": event}
        )
    return frames


REQUESTS = {
    "OLS": {"analysis": "ols", "y": "y", "x": [f"x{j}" for j in range(5)]},
    "logistic": {"analysis": "logistic", "y": "event", "x": [f"x{j}" for j in range(5)]},
}


def messages() -> None:
    kinds = ["propose", "accepted", "ask-keys", "keys", "ask-shares", "shares", "ask-masked",
             "masked", "ask-unmask", "unmask", "finish", "finished"]  # fmt: skip
    rows = []
    for k in (3, 5, 10, 20):
        answer = federated.simulate(_frames(k), analysis_from(REQUESTS["OLS"]))
        traffic = answer.traffic["agency-00"]
        sizes = [traffic.get(kind, 0) // (1 if kind in kinds[:2] else answer.n_sums)
                 for kind in kinds]  # fmt: skip
        rows.append([k, *[f"{s:,}" for s in sizes], f"{sum(traffic.values()):,}"])
    print("Bytes to and from one agency, OLS with 5 predictors: per sum, and all four sums\n")
    print(markdown(["agencies", *kinds, "all"], rows), "\n")


def _started(folder: Path, name: str, frame: pl.DataFrame) -> subprocess.Popen[str]:
    frame.write_parquet(folder / f"{name}.parquet")
    (folder / "policy.toml").write_text("ask = false\n")
    command = [sys.executable, "-m", "tacit.cli", "agency", folder / f"{name}.parquet",
               "--credentials", folder / "keys" / name, "--policy", folder / "policy.toml",
               "--listen", "127.0.0.1:0"]  # fmt: skip
    return subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip


def processes() -> None:
    import statsmodels.api as sm

    rows = []
    for k in (3, 5, 20):
        frames = _frames(k)
        pooled = pl.concat(frames.values())
        design = sm.add_constant(pooled.select([f"x{j}" for j in range(5)]).to_numpy())
        logit = sm.Logit(pooled["event"].to_numpy(), design)
        fits = {
            "OLS": sm.OLS(pooled["y"].to_numpy(), design).fit(),
            "logistic": logit.fit(disp=0, tol=1e-12),
        }
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            federated.make_certificates(folder / "keys", frames)
            started = {n: _started(folder, n, f) for n, f in frames.items()}
            try:
                where = {}
                for name, process in started.items():
                    port = re.search(r"port (\d+)", process.stderr.readline())
                    where[name] = f"127.0.0.1:{port[1]}"
                coordinator = federated.connect(where, folder / "keys" / "coordinator", timeout=120)
                coordinator.run(analysis_from({"analysis": "count"}))
                for title, request in REQUESTS.items():
                    clock = time.perf_counter()
                    answer = coordinator.run(analysis_from(request))
                    clock = time.perf_counter() - clock
                    found = np.array(list(answer["coefficients"].values()))
                    off = np.abs(found / fits[title].params - 1).max()
                    sent = sum(answer.traffic["agency-00"].values())
                    rows.append(
                        [k, title, answer.n_sums, f"{clock:.2f}", f"{off:.1e}", f"{sent:,}"]
                    )
            finally:
                for process in started.values():
                    process.send_signal(signal.SIGKILL)
                    process.wait()
    header = ["processes", "analysis", "sums", "wall s", "largest relative difference from pooled",
              "bytes per agency"]  # fmt: skip
    print(markdown(header, rows), "\n")


def vertical() -> None:
    """Regress over three agencies that hold different variables of the same units."""
    rows = []
    holders = {"tax": ["y", "x0"], "health": ["x1", "x2"], "school": ["x3", "x4"]}
    wanted = [f"x{j}" for j in range(5)]
    for n in (1_000, 10_000, 100_000):
        whole = _frames(1, n)["agency-00"].with_columns(id=pl.int_range(n))
        parts = {name: whole.select("id", *own).sample(fraction=0.99, seed=k, shuffle=True)
                 for k, (name, own) in enumerate(holders.items())}  # fmt: skip
        joined = parts["tax"].join(parts["health"], on="id").join(parts["school"], on="id")
        design = joined.select(pl.lit(1.0), *wanted).to_numpy()
        pooled = np.linalg.lstsq(design, joined["y"].to_numpy())[0]
        asked = analysis_from({"analysis": "vertical-ols", "unit": "id", "y": "y", "x": wanted,
                               "holders": holders})  # fmt: skip
        channels = {a.name: Timed(a) for a in agencies(parts)}
        cpu = time.process_time()
        answer = Coordinator(channels, workers=1).run(asked)
        cpu = time.process_time() - cpu
        each = sum(c.seconds for c in channels.values()) / 3
        off = np.abs(np.array(list(answer["coefficients"].values())) / pooled - 1).max()
        sent = sum(answer.traffic["tax"].values()) / 1e6
        rows.append([f"{n:,}", f"{cpu:.2f}", f"{each:.2f}", f"{cpu - 3 * each:.2f}", f"{sent:.1f}",
                     f"{off:.1e}"])  # fmt: skip
    header = ["units", "CPU s", "CPU s per agency", "CPU s coordinator", "MB to and from an agency",
              "largest relative difference from the joined file"]  # fmt: skip
    print(markdown(header, rows), "\n")


def _busy(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(pid: int) -> float:
    """Return the largest memory of a process so far, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def _ours(k: int, size: int) -> tuple[str, ...]:
    """Add vectors of k processes over mutual TLS; wall seconds, and what one agency needs."""
    names = [f"agency-{i:02d}" for i in range(k)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        federated.make_certificates(folder / "keys", names)
        started = [
            subprocess.Popen([sys.executable, "-c", _AGENCY, str(folder / "keys" / name), str(i),
                              str(size)], stderr=subprocess.PIPE, text=True)
            for i, name in enumerate(names)
        ]  # fmt: skip
        try:
            ports = [re.search(r"port (\d+)", one.stderr.readline())[1] for one in started]
            where = {name: f"127.0.0.1:{port}" for name, port in zip(names, ports, strict=True)}
            coordinator = federated.connect(
                where, folder / "keys" / "coordinator", encoding=federated.COUNTS, timeout=300
            )
            before = [_busy(one.pid) for one in started]
            clock = time.perf_counter()
            answer = coordinator.run(Vector(size=size))
            clock = time.perf_counter() - clock
            busy = np.mean([_busy(one.pid) for one in started]) - np.mean(before)
            memory = np.mean([_peak(one.pid) for one in started])
        finally:
            for one in started:
                one.kill()
                one.wait()
    right = np.array_equal(answer["sum"], k * np.arange(size) + k * (k - 1) // 2)
    sent = sum(answer.traffic["agency-00"].values()) / 1e6
    told = f"{clock:.2f}", f"{busy:.2f}", f"{sent:.2f}", f"{memory:,.0f}"
    return told if right else ("WRONG", "", "", "")


def _mpyc(k: int, size: int) -> tuple[str, ...]:
    """Let MPyC add the same vectors; wall seconds, and what one party needs."""
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "sum.py"
        script.write_text(_MPYC, encoding="utf-8")
        subprocess.run([str(_PEER), "-W", "ignore", str(script), f"-M{k}", f"{place}/out-",
                        str(size)], capture_output=True, check=False, timeout=900)  # fmt: skip
        time.sleep(1.0)  # the other parties end a little after the first
        lines = [path.read_text(encoding="ascii").split() for path in Path(place).glob("out-*")]
    if len(lines) != k or any(line[2] != "True" for line in lines):
        return "fails", "", "", ""
    wall = max(float(line[0]) for line in lines)
    busy, sent, memory = (np.mean([float(line[i]) for line in lines]) for i in (1, 3, 4))
    return f"{wall:.2f}", f"{busy:.2f}", f"{sent / 1e6:.2f}", f"{memory / 1024:,.0f}"


def peer() -> None:
    if not _PEER.is_file():
        print("MPyC is not installed")
        return
    cases = [(3, 10_000), (3, 100_000), (5, 100_000), (10, 100_000)]
    if "--large" in sys.argv:
        cases += [(3, 1_000_000), (10, 1_000_000)]
    rows = [[k, f"{size:,}", *_ours(k, size), *_mpyc(k, size)] for k, size in cases]
    print(
        "The same sum of whole numbers below 2^63, one process per party on this machine. tacit: "
        "mutual TLS 1.3 through a coordinator, masks that survive losses. MPyC: sockets without "
        "TLS between all pairs, shares of a prime field, no losses.\n"
    )
    needs = ["wall s", "CPU s each", "MB to and from each", "peak MB each"]
    header = ["agencies", "length", *(f"{who}, {n}" for who in ("tacit", "MPyC") for n in needs)]
    print(markdown(header, rows), "\n")


if __name__ == "__main__":
    parts = {"sums": sums, "messages": messages, "processes": processes,
             "vertical": vertical, "peer": peer}  # fmt: skip
    usual = [name for name in parts if name != "processes" or "--processes" in sys.argv]
    chosen = sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else usual
    for name in chosen:
        parts[name]()

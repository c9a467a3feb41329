"""Our side of the harness: a process that sets tasks up and runs them when told to.

Reads lines of JSON, ``["ours" or "limit", capability, n]``, and answers each with a line of JSON:
CPU seconds, peak megabytes of the process so far, and what is to be said of the answer. With
``["judge", capability, n, answer]`` it says that of the answer of a peer. A task
stays set up between two lines about it, so that the harness can run the peers in between.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from capabilities import BY_KEY
from measuring import peak_megabytes


class Tasks:
    """The task that is set up now, for our side and for the limit."""

    def __init__(self) -> None:
        self._ready: dict[tuple[str, str, int], Any] = {}
        self._warm: set[tuple[str, str]] = set()

    def run(self, side: str, key: str, n: int, answer: Any = None) -> dict[str, Any]:
        capability = BY_KEY[key]
        if side == "judge":
            return {"answer": capability.judge(n, answer)}
        build = capability.ours if side == "ours" else capability.limit[1]
        if (side, key) not in self._warm:
            build(capability.tiny)()  # compile
            self._warm.add((side, key))
        if (side, key, n) not in self._ready:
            self._ready = {k: w for k, w in self._ready.items() if k[1:] == (key, n)}
            self._ready[side, key, n] = build(n)
        started = time.process_time()
        answer = self._ready[side, key, n]()
        seconds = time.process_time() - started
        if side == "limit":
            measured = answer if isinstance(answer, float) else seconds
            return {"seconds": measured, "peak": None, "answer": None}
        return {"seconds": seconds, "peak": peak_megabytes(), "answer": capability.quality(answer)}


def main() -> None:
    tasks = Tasks()
    for line in sys.stdin:
        print(json.dumps(tasks.run(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

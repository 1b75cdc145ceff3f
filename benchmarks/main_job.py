"""Wall time, processor time and peak memory of a whole `budgetbench run`, with all its processes.

Memory is the sum of the proportional set sizes of the process and its workers, so that pages which several of them
map, such as the shared Gram matrix, count once. Linux only.

    python benchmarks/main_job.py configs/usps_noise10.yaml
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


def tree(root: int) -> list[int]:
    """A process and all its descendants."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        try:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                waiting += map(int, children.read_text().split())
        except OSError:  # it has just ended
            pass
    return found


def memory(pids: list[int]) -> int:
    """Proportional set size of some processes, in bytes."""
    total = 0
    for pid in pids:
        try:
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += 1024 * int(line.split()[1])
        except OSError:
            pass
    return total


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as results:
        command = [sys.executable, "-m", "budgetbench", "run", *arguments, "--results", results, "--quiet"]
        begun = time.perf_counter()
        process = subprocess.Popen(command)
        peak, over = 0, threading.Event()

        def watch() -> None:
            nonlocal peak
            while not over.wait(2):  # looking at large mappings holds their processes up
                peak = max(peak, memory(tree(process.pid)))

        watcher = threading.Thread(target=watch)
        watcher.start()
        process.wait()
        over.set()
        watcher.join()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall, cpu = time.perf_counter() - begun, used.ru_utime + used.ru_stime
        print(f"{' '.join(arguments)}: {wall:.1f} s, {cpu:.1f} s of processor time, {peak / 1e9:.2f} GB at most")
        raise SystemExit(process.returncode)


if __name__ == "__main__":
    main(sys.argv[1:])

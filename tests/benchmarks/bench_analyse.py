"""How long a long run takes to analyse: python tests/benchmarks/bench_analyse.py; 100,000 steps are to take less than 5 s."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import builders

from loaderdoctor.analyse import signals_of

EPOCH = "wwc" * 490 + "{" + "wc" * 10 + "}"
EPOCHS = (2, 20, 200)


def main():
    print("    steps       s")
    for epochs in EPOCHS:
        run = builders.run_from("[" + EPOCH * epochs, num_workers=4)
        began_s = time.perf_counter()
        signals = signals_of(run)
        print(f"{sum(loader.batches for loader in signals.loaders):9,} {time.perf_counter() - began_s:7.2f}")


if __name__ == "__main__":
    main()

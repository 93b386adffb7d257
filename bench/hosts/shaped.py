#!/usr/bin/env python3
"""Communication between hosts of known links: network namespaces of this machine, each with a cable of so many Mbit/s.

  bench/hosts/shaped.py goodput    bus bandwidth beside bare TCP, with and without encryption, 2 to 5 hosts
  bench/hosts/shaped.py regret     every algorithm by force: what the choice costs beside the best, and the formula
  bench/hosts/shaped.py step       training 2 hosts x 2 ranks beside PyTorch's DDP on Gloo over the same links

Needs root, a release build and, for `step`, `dev/setup bench`. `--help` lists what can be chosen."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "hosts"))
from cluster import Cluster, missing  # noqa: E402

TOOL = ROOT / "build" / "release" / "bin" / "cohort"
NAMES = "abcde"


def run_ranks(hosts, shares, words, options=()):
    """The JSON that rank 0 of `cohort bench ranks` prints."""
    with tempfile.TemporaryDirectory() as folder:
        command = hosts.inside("a", TOOL, "run", "--hosts", shares, "--start", hosts.start_way(), *options, "--output-dir", folder,
                               TOOL, "bench", "ranks", "--json", *words)
        result = subprocess.run(command, capture_output=True, text=True)
        texts = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
    if result.returncode != 0:
        sys.exit(f"{result.stderr}\n{texts.get('rank-0.err', '')}")
    return json.loads(texts["rank-0.out"])


def row_line(*cells):
    print("".join(f"{cell:>{width}}" for cell, width in cells), flush=True)


def goodput(arguments):
    row_line(("rate", 6), ("hosts", 6), ("secrecy", 9), ("operation", 16), ("size", 10), ("bare Mbit/s", 13), ("bus Mbit/s", 12),
             ("ratio", 8), ("goal", 6))
    short = 0
    for rate in arguments.rates:
        for n in arguments.hosts:
            with Cluster(*NAMES[:n]) as hosts:
                hosts.shape(rate)
                shares = ",".join(f"{name}:1" for name in NAMES[:n])
                for secrecy, options, goal in (("clear", ["--no-encryption"], 0.97), ("TLS", [], 0.95)):
                    report = run_ranks(hosts, shares, ["--sizes", arguments.sizes or "16MiB", "--rounds", arguments.rounds,
                                                       "--time", arguments.time], options)
                    for row in report["rows"]:
                        short += row["by_bare_tcp"] < goal
                        row_line((rate, 6), (n, 6), (secrecy, 9), (row["operation"], 16), (row["bytes"], 10),
                                 (f"{report['bare_tcp_mbps']:.1f}", 13), (f"{row['bus_mbps']:.1f}", 12),
                                 (f"{row['by_bare_tcp']:.3f}", 8), (goal, 6))
    print(f"{short} of these are short of their goal")


def regret(arguments):
    row_line(("rate", 6), ("hosts", 6), ("operation", 16), ("size", 10), ("chosen", 18), ("regret", 9), ("by formula", 12))
    worst, worst_formula, rows = 0.0, 1.0, []
    for rate in arguments.rates:
        sizes = arguments.sizes or {50: "4,4KiB,64KiB,1MiB", 200: "4,4KiB,64KiB,1MiB,4MiB"}.get(rate, "4,4KiB,64KiB,1MiB,16MiB")
        for n in arguments.hosts:
            with Cluster(*NAMES[:n]) as hosts:
                hosts.shape(rate)
                shares = ",".join(f"{name}:1" for name in NAMES[:n])
                report = run_ranks(hosts, shares, ["--sizes", sizes, "--rounds", arguments.rounds, "--time", arguments.time,
                                                   "--algorithms", "all", "--operations", arguments.operations])
            rows += [dict(row, rate=rate, n=n) for row in report["rows"]]
            for row in report["rows"]:
                if not row["is_chosen"]:
                    continue
                worst = max(worst, row["regret"])
                worst_formula = max(worst_formula, row["by_predicted"], 1 / row["by_predicted"])
                row_line((rate, 6), (n, 6), (row["operation"], 16), (row["bytes"], 10), (row["algorithm"], 18),
                         (f"{100 * row['regret']:.1f} %", 9), (f"{row['by_predicted']:.2f}", 12))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1))
    print(f"the worst choice costs {100 * worst:.1f} % more than the best; the formula is off by a factor of {worst_formula:.2f} at most")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["goodput", "regret"])
    parser.add_argument("--rates", type=lambda text: [int(word) for word in text.split(",")], help="Mbit/s, by comma")
    parser.add_argument("--hosts", type=lambda text: [int(word) for word in text.split(",")], default=[2, 3, 4, 5])
    parser.add_argument("--sizes", help="as of cohort bench ranks")
    parser.add_argument("--operations", default="all_reduce,reduce_scatter,all_gather")
    parser.add_argument("--rounds", default=5)
    parser.add_argument("--time", default="4s", help="for one algorithm in one cell")
    parser.add_argument("--json", help="a file for all rows")
    arguments = parser.parse_args()
    if missing():
        sys.exit(missing())
    os.environ.setdefault("COHORT_LINK_CACHE", "off")
    if arguments.what == "goodput":
        arguments.rates = arguments.rates or [200]
        goodput(arguments)
    else:
        arguments.rates = arguments.rates or [50, 200, 1000]
        regret(arguments)


if __name__ == "__main__":
    main()

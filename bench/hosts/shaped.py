#!/usr/bin/env python3
"""Benchmarks between hosts with links of known bandwidth. The hosts are network namespaces of this machine.

  bench/hosts/shaped.py goodput    bus bandwidth relative to plain TCP, with and without TLS, 2 to 5 hosts
  bench/hosts/shaped.py regret     times of all algorithms: how much slower the chosen one is than the best, and than predicted
  bench/hosts/shaped.py form       from the SIGKILL of one of 4 ranks to the first sum of the others, on one host and on 2 hosts
  bench/hosts/shaped.py step       training steps on 2 hosts x 2 ranks, compared with PyTorch's DDP on Gloo over the same links

Needs root, a release build and, for `step`, `dev/setup bench`. `--help` lists the options."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "hosts"))
from cluster import Cluster, missing  # noqa: E402

TOOL = ROOT / "build" / "release" / "bin" / "cohort"
NAMES = "abcde"


def run_ranks(hosts, shares, words, options=(), bench="ranks"):
    """The JSON that rank 0 of `cohort bench ranks` prints, or of another benchmark that runs as ranks."""
    places = ["--hosts", shares, "--start", hosts.start_way()] if ":" in shares else ["-n", shares]
    with tempfile.TemporaryDirectory() as folder:
        command = hosts.inside("a", TOOL, "run", *places, *options, "--output-dir", folder, TOOL, "bench", bench, "--json", *words)
        result = subprocess.run(command, capture_output=True, text=True)
        texts = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
    if result.returncode != 0:
        sys.exit(f"{result.stderr}\n{texts.get('rank-0.err', '')}")
    return json.loads(texts["rank-0.out"])


def form(arguments):
    slow = 0
    with Cluster("a", "b") as hosts:
        for shares, goal in (("4", 20), ("a:2,b:2", 300)):
            row_line((f"ranks {shares}", 14), ("noticed ms", 12), ("agreed ms", 12), ("formed ms", 12), ("first sum ms", 14), ("goal", 6))
            sums = [form_once(hosts, shares, goal) for _ in range(int(arguments.rounds))]
            slow += sum(time > goal for time in sums)
            print(f"first sum: min {min(sums):.1f}, median {statistics.median(sums):.1f}, max {max(sums):.1f} ms")
    print(f"{slow} rows miss their goal; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def form_once(hosts, shares, goal):
    (loss,) = run_ranks(hosts, shares, [], ["--on-rank-loss", "tell"], bench="form")["losses"]
    times = [1000 * loss[name] for name in ("noticed_s", "agreed_s", "formed_s", "summed_s")]
    row_line(("", 14), *((f"{time:.1f}", width) for time, width in zip(times, (12, 12, 12, 14))), (goal, 6))
    return times[-1]


def row_line(*cells):
    print("".join(f"{cell:>{width}}" for cell, width in cells), flush=True)


def goodput(arguments):
    row_line(("rate", 6), ("hosts", 6), ("secrecy", 9), ("operation", 16), ("size", 10), ("bare Mbit/s", 13),
             ("all at once", 13), ("bus Mbit/s", 12), ("ratio", 8), ("goal", 6))
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
                                 (f"{report['bare_tcp_mbps']:.1f}", 13), (f"{report['bare_ring_mbps']:.1f}", 13), (f"{row['bus_mbps']:.1f}", 12),
                                 (f"{row['by_bare_tcp']:.3f}", 8), (goal, 6))
    print(f"{short} rows miss their goal")


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
    print(f"the chosen algorithm is at most {100 * worst:.1f} % slower than the best; predictions are off by a factor of {worst_formula:.2f} at most")


JOB = """
[data]
kind = "digits"
samples = 4096
test_samples = 10
[model]
kind = "mlp"
hidden = [3200, 3200, 3200]
[optimizer]
name = "sgd"
momentum = 0.9
learning_rate = 0.01
[train]
batch_size = {batch}
steps = {steps}
evaluate_every = 0
bucket_bytes = "{bucket}"
directory = "{directory}"
[launch]
threads_per_rank = 1
"""


def our_step(hosts, arguments, shares):
    """Milliseconds of each step of `cohort train`, without the first two."""
    with tempfile.TemporaryDirectory() as folder:
        job = pathlib.Path(folder) / "job.toml"
        job.write_text(JOB.format(batch=4 * arguments.batch, steps=arguments.steps + 2, bucket=arguments.bucket, directory=folder + "/run"))
        result = subprocess.run(hosts.inside("a", TOOL, "train", job, "--hosts", shares, "--start", hosts.start_way()),
                                capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(result.stdout + result.stderr)
        lines = [json.loads(line) for line in (pathlib.Path(folder) / "run" / "steps.jsonl").read_text().splitlines()]
    return [1000 * line["seconds"] for line in lines if "seconds" in line][2:]


def gloo_step(hosts, arguments):
    """Milliseconds of each step of DistributedDataParallel on Gloo, two ranks on each host, without the first two."""
    script = ROOT / "bench" / "peers" / "torch_step.py"
    ranks = []
    for rank in range(4):
        variables = {"RANK": rank, "WORLD_SIZE": 4, "MASTER_ADDR": hosts.address("a"), "MASTER_PORT": 29511,
                     "GLOO_SOCKET_IFNAME": "eth0", "OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1}
        words = ["env", *[f"{name}={value}" for name, value in variables.items()], ROOT / ".venv" / "bin" / "python3", script,
                 "--model", "mlp", "--ddp", "--batch", arguments.batch, "--optimizer", "sgd", "--momentum", 0.9, "--steps", arguments.steps + 2]
        ranks.append(subprocess.Popen(hosts.inside("ab"[rank // 2], *words), stdout=subprocess.PIPE, text=True))
    texts = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit("torch_step.py failed: dev/setup bench installs its requirements")
    steps = [[json.loads(line)["ms"] for line in text.splitlines() if '"ms"' in line] for text in texts]
    return [max(times) for times in zip(*steps)][2:]


def step(arguments):
    ours, peers = [], []
    with Cluster("a", "b") as hosts:
        hosts.shape(arguments.rates[0])
        link = run_ranks(hosts, "a:1,b:1", ["--sizes", "16MiB", "--operations", "all_reduce", "--rounds", 1])["bare_tcp_mbps"]
        for _ in range(int(arguments.rounds)):
            ours += our_step(hosts, arguments, "a:2,b:2")
            peers += gloo_step(hosts, arguments)
    parameters = 784 * 3200 + 2 * 3200 * 3200 + 3200 * 10 + 3 * 3200 + 10
    wire_ms = 4 * parameters * 8 / link / 1000
    print(f"{arguments.rates[0]} Mbit/s, plain TCP {link:.1f}; 2 hosts x 2 ranks, {parameters / 1e6:.1f} M parameters, batch size {arguments.batch} per rank")
    print(f"Cohort {min(ours):.0f} ms (median {sorted(ours)[len(ours) // 2]:.0f}), DDP on Gloo {min(peers):.0f} ms"
          f" (median {sorted(peers)[len(peers) // 2]:.0f}): {min(peers) / min(ours):.2f} times faster")
    print(f"transfer of the gradients alone takes {wire_ms:.0f} ms: Cohort's step takes {min(ours) / wire_ms:.3f} times that")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["form", "goodput", "regret", "step"])
    parser.add_argument("--rates", type=lambda text: [int(word) for word in text.split(",")], help="link bandwidths in Mbit/s, separated by commas")
    parser.add_argument("--hosts", type=lambda text: [int(word) for word in text.split(",")], default=[2, 3, 4, 5])
    parser.add_argument("--sizes", help="see cohort bench ranks")
    parser.add_argument("--operations", default="all_reduce,reduce_scatter,all_gather")
    parser.add_argument("--rounds", default=5)
    parser.add_argument("--time", default="4s", help="duration of one measurement")
    parser.add_argument("--json", help="write all rows to this file")
    parser.add_argument("--batch", type=int, default=64, help="step: batch size per rank")
    parser.add_argument("--steps", type=int, default=4, help="step: steps in each round")
    parser.add_argument("--bucket", default="4 MiB", help="step: bucket size of gradients")
    arguments = parser.parse_args()
    if missing():
        sys.exit(missing())
    if arguments.what == "goodput":
        arguments.rates = arguments.rates or [200]
        goodput(arguments)
    elif arguments.what == "form":
        form(arguments)
    elif arguments.what == "step":
        arguments.rates = arguments.rates or [200]
        step(arguments)
    else:
        arguments.rates = arguments.rates or [50, 200, 1000]
        regret(arguments)


if __name__ == "__main__":
    main()

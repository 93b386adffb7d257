#!/usr/bin/env python3
"""Compares the backends cohort and gloo of torch.distributed, interleaved in one run on this machine.

  bench/pytorch/against_gloo.py [--what all_reduce,ddp,fsdp] [--ranks 2] [--arena]

Prints the medians and the ratio of medians. Needs a release build with cohort_c10d, and `dev/setup bench`."""

import argparse
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKENDS = ("gloo", "cohort")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", default="all_reduce,ddp,fsdp")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--arena", action="store_true", help="allocate large tensors of the backend cohort in shared memory")
    parser.add_argument("--json", help="write the figures to this file")
    return parser.parse_args()


def in_turns(steps, rounds, each, arena):
    """Median seconds of each backend's step on the slowest rank. The backends take turns, `each` steps at a time."""
    import torch
    import torch.distributed as dist

    times = {name: [] for name in steps}
    for round_number in range(rounds + 1):
        for name, step in steps.items():
            dist.barrier()
            use_arena(name, arena)
            took = []
            for _ in range(each):
                began = time.perf_counter()
                step()
                took.append(time.perf_counter() - began)
            use_arena("", arena)
            slowest = torch.tensor(took, dtype=torch.float64)
            dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
            if round_number > 0:  # round 0 warms up
                times[name] += slowest.tolist()
    return {name: statistics.median(values) for name, values in times.items()}


def say(rank, what, medians, goal, rows):
    ratio = medians["gloo"] / medians["cohort"]
    rows.append({"what": what, "gloo_us": medians["gloo"] * 1e6, "cohort_us": medians["cohort"] * 1e6, "ratio": ratio, "goal": goal})
    if rank == 0:
        wanted = f"{goal:6.2f}" if goal else "     -"
        print(f"{what:34}{medians['gloo'] * 1e6:14.1f}{medians['cohort'] * 1e6:14.1f}{ratio:9.2f}{wanted}", flush=True)


def bench_all_reduce(rank, groups, arguments, rows):
    import torch
    import torch.distributed as dist

    for size, each, goal in ((4, 400, 10), (64 << 10, 200, 10), (1 << 20, 40, None), (32 << 20, 8, 5)):
        steps = {}
        for name, group in groups.items():
            use_arena(name, arena_of(arguments, groups))
            tensor = torch.empty(size // 4).fill_(0)
            use_arena("", arena_of(arguments, groups))
            steps[name] = lambda tensor=tensor, group=group: dist.all_reduce(tensor, group=group)
        say(rank, f"all_reduce of {size} bytes", in_turns(steps, arguments.rounds, each, arena_of(arguments, groups)), goal, rows)


def arena_of(arguments, groups):
    """The group in whose shared memory tensors are allocated, or None."""
    return groups["cohort"] if arguments.arena else None


def use_arena(name, group):
    """Allocates later tensors in the group's shared memory if `name` is cohort, else as usual."""
    if group is None:
        return
    import cohort_c10d

    if name == "cohort":
        cohort_c10d.allocate_in_arena(group)
    else:
        cohort_c10d.allocate_as_usual()


def mlp():
    from torch import nn

    return nn.Sequential(nn.Linear(784, 3200), nn.ReLU(), nn.Linear(3200, 3200), nn.ReLU(), nn.Linear(3200, 3200), nn.ReLU(),
                         nn.Linear(3200, 10))


def bench_ddp(rank, groups, arguments, rows):
    import torch
    from torch import nn

    for batch, goal in ((64, 1.35), (8, 1.6)):
        steps = {}
        for name, group in groups.items():
            def make(group=group):
                torch.manual_seed(1)
                net = nn.parallel.DistributedDataParallel(mlp(), process_group=group)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, fused=True)
                inputs, labels = torch.randn(batch, 784), torch.randint(0, 10, (batch,))

                def step():
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(net(inputs), labels).backward()
                    optimizer.step()

                step()
                step()  # DDP rebuilds its buckets after the first step
                return step

            use_arena(name, arena_of(arguments, groups))
            steps[name] = make()
            use_arena("", arena_of(arguments, groups))
        say(rank, f"DDP step, MLP of 23.0 M, batch {batch}", in_turns(steps, arguments.rounds, 3, arena_of(arguments, groups)), goal, rows)


def gpt(blocks=6, heads=6, width=384, length=128, words=65):
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, count, _ = x.shape
            q, k, v = (part.view(batch, count, heads, -1).transpose(1, 2) for part in self.attention(self.first(x)).split(width, 2))
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, count, width)
            x = x + self.projection(y)
            return x + self.narrow(nn.functional.gelu(self.widen(self.second(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block() for _ in range(blocks)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, tokens):
            x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Gpt()


def bench_fsdp(rank, groups, arguments, rows):
    import torch
    from torch import nn
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import fully_shard

    for batch, length in ((4, 128), (1, 64)):
        steps = {}
        for name, group in groups.items():
            torch.manual_seed(1)
            net = gpt()
            mesh = DeviceMesh.from_group(group, "cpu")
            for block in net.blocks:
                fully_shard(block, mesh=mesh)
            fully_shard(net, mesh=mesh)
            optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
            tokens = torch.randint(0, 65, (batch, length))

            def step(net=net, optimizer=optimizer, tokens=tokens):
                optimizer.zero_grad()
                logits = net(tokens)
                nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
                optimizer.step()

            steps[name] = step
        say(rank, f"FSDP2 step, GPT of 10.8 M, {batch} x {length}", in_turns(steps, arguments.rounds, 2, arena_of(arguments, groups)), 1.3, rows)


def be_rank(arguments):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    groups = {name: dist.new_group(backend=name) for name in BACKENDS}
    rank, rows = dist.get_rank(), []
    if rank == 0:
        print(f"{arguments.ranks} ranks, torch {torch.__version__}{', buffers in the arena' if arguments.arena else ''}")
        print(f"{'what':34}{'gloo us':>14}{'cohort us':>14}{'ratio':>9}{'goal':>6}", flush=True)
    for what in arguments.what.split(","):
        {"all_reduce": bench_all_reduce, "ddp": bench_ddp, "fsdp": bench_fsdp}[what](rank, groups, arguments, rows)
    if arguments.json and rank == 0:
        import json

        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1))
    dist.destroy_process_group()


def launch(arguments):
    packages = ROOT / "build" / "release" / "python"
    if not list(packages.glob("cohort_c10d/_C*.so")):
        sys.exit(f"no cohort_c10d in {packages}: run make build first")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = []
    for rank in range(arguments.ranks):
        told = {"RANK": rank, "WORLD_SIZE": arguments.ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "PYTHONPATH": packages,
                "OMP_NUM_THREADS": 1, "PYTHONWARNINGS": "ignore"}
        ranks.append(subprocess.Popen([ROOT / ".venv" / "bin" / "python3", __file__, *sys.argv[1:]],
                                      env={**os.environ, **{name: str(value) for name, value in told.items()}}))
    return max(process.wait() for process in ranks)


if __name__ == "__main__":
    if "RANK" in os.environ:
        be_rank(parse())
    else:
        sys.exit(launch(parse()))

"""One rank of the peer 'gloo' of `cohort bench comm`: torch.distributed, measured like every other participant.

Arguments: RANK RANKS FOLDER NAME; the NAME gloo_pinned pins the rank to one core. COHORT_BENCH_CONTROL names the controller's
abstract socket. The loop and the values are those of tools/measure/contender.cpp and pattern.cpp; tools/measure/protocol.h
documents the messages.
"""

import os
import socket
import sys
import time

try:
    import warnings

    warnings.filterwarnings("ignore", message=".*NumPy.*")
    import torch
    import torch.distributed as dist
except ImportError as error:
    sys.exit(f"the Python torch cannot be loaded: {error}")

PERIOD = 251
SLOT_ELEMENTS = 32
IN_PLACE = ("all_reduce", "broadcast", "reduce")


def shift_of(rank, salt):
    return (rank * 37 + salt % PERIOD * 11) % PERIOD


def slot_size(elements):
    return (elements + SLOT_ELEMENTS - 1) // SLOT_ELEMENTS * SLOT_ELEMENTS


class Unsupported(Exception):
    pass


class WrongResult(Exception):
    pass


class Values:
    """The numbers that are sent, and the sums that must come back."""

    def __init__(self):
        self.long = torch.zeros(0)

    def write(self, to, rank, salt):
        """Element i becomes (i + shift) mod 251: a copy from a table that is one period longer than needed."""
        if self.long.numel() < to.numel() + PERIOD:
            self.long = (torch.arange(to.numel() + PERIOD, dtype=torch.int32) % PERIOD).to(torch.float32)
        shift = shift_of(rank, salt)
        to.copy_(self.long[shift:shift + to.numel()])

    @staticmethod
    def check(part, first_index, ranks, salt):
        index = torch.arange(PERIOD, dtype=torch.int64)
        period = sum(((index + first_index + shift_of(rank, salt)) % PERIOD).to(torch.float32) for rank in ranks)
        whole = part.numel() // PERIOD * PERIOD
        right = bool((part[:whole].view(-1, PERIOD) == period).all()) and torch.equal(part[whole:], period[:part.numel() - whole])
        if not right:
            raise WrongResult(f"wrong result in call {salt}: some of {part.numel()} elements are not the expected ones")


class Gloo:
    def __init__(self, rank, ranks):
        self.rank, self.ranks, self.values, self.memory = rank, ranks, Values(), {}
        self.group = dist.distributed_c10d._get_default_group()

    def sizes(self, operation, elements):
        part = elements // self.ranks
        return {
            "all_reduce": (0, elements), "broadcast": (0, elements), "reduce": (0, elements),
            "reduce_scatter": (elements, part), "scatter": (elements, part),
            "all_gather": (part, elements), "gather": (part, elements),
            "all_to_all": (elements, elements), "send_receive": (elements, elements), "barrier": (0, 0),
        }[operation]

    def partner(self):
        other = self.rank + 1 if self.rank % 2 == 0 else self.rank - 1
        return other if other < self.ranks else self.rank

    def buffers(self, operation, elements, batch):
        key = (operation, elements, batch)
        if key not in self.memory:
            self.memory.clear()
            self.memory[key] = [self.slots(size, batch) for size in self.sizes(operation, elements)]
        return self.memory[key]

    @staticmethod
    def slots(size, batch):
        memory = torch.zeros(slot_size(size) * batch)
        return [memory[i * slot_size(size):i * slot_size(size) + size] for i in range(batch)]

    def expected(self, operation, elements, root):
        """Pieces (offset, count, first index, ranks) as in tools/measure/rank_layout.cpp."""
        part, everybody = elements // self.ranks, range(self.ranks)
        mine = self.rank * part
        if operation == "all_reduce" or operation == "reduce" and self.rank == root:
            return [(0, elements, 0, everybody)]
        if operation == "reduce_scatter":
            return [(0, part, mine, everybody)]
        if operation == "all_gather" or operation == "gather" and self.rank == root:
            return [(r * part, part, 0, [r]) for r in everybody]
        if operation == "all_to_all":
            return [(r * part, part, mine, [r]) for r in everybody]
        if operation == "broadcast":
            return [(0, elements, 0, [root])]
        if operation == "scatter":
            return [(0, part, mine, [root])]
        if operation == "send_receive" and self.partner() != self.rank:
            return [(0, elements, 0, [self.partner()])]
        return []

    def call(self, operation, given, got, root):
        """Prepares one call: options and lists are made outside of the timed section."""
        group, is_root = self.group, self.rank == root
        if operation == "all_reduce":
            return lambda: group.allreduce([got]).wait()
        if operation == "broadcast":
            options = dist.BroadcastOptions()
            options.rootRank = root
            return lambda: group.broadcast([got], options).wait()
        if operation == "reduce":
            options = dist.ReduceOptions()
            options.rootRank = root
            return lambda: group.reduce([got], options).wait()
        if operation == "all_gather":
            return lambda: group._allgather_base(got, given).wait()
        if operation == "reduce_scatter":
            return lambda: group._reduce_scatter_base(got, given).wait()
        if operation == "all_to_all":
            return lambda: group.alltoall_base(got, given, [], []).wait()
        if operation == "gather":
            options, outputs = dist.GatherOptions(), [list(got.chunk(self.ranks))] if is_root else []
            options.rootRank = root
            return lambda: group.gather(outputs, [given], options).wait()
        if operation == "scatter":
            options, inputs = dist.ScatterOptions(), [list(given.chunk(self.ranks))] if is_root else []
            options.rootRank = root
            return lambda: group.scatter([got], inputs, options).wait()
        if operation == "send_receive":
            return self.ping_pong(given, got)
        if operation == "barrier":
            return lambda: group.barrier().wait()
        raise Unsupported(f"no operation '{operation}'")

    def ping_pong(self, given, got):
        group, other = self.group, self.partner()
        if other == self.rank:
            return lambda: None
        if self.rank % 2 == 0:
            return lambda: (group.send([given], other, 0).wait(), group.recv([got], other, 0).wait())
        return lambda: (group.recv([got], other, 0).wait(), group.send([given], other, 0).wait())

    def rewrite(self, operation, inputs, outputs, salt):
        for i, (given, got) in enumerate(zip(inputs, outputs)):
            self.values.write(given, self.rank, salt + i)
            if operation in IN_PLACE:
                self.values.write(got, self.rank, salt + i)
            else:
                got.fill_(float("nan"))

    def run(self, operation, elements, iterations, batch, salt):
        inputs, outputs = self.buffers(operation, elements, batch)
        times = []
        for _ in range(iterations):
            self.rewrite(operation, inputs, outputs, salt)
            calls = [self.call(operation, inputs[i], outputs[i], (salt + i) % self.ranks) for i in range(batch)]
            self.group.barrier().wait()
            start = time.monotonic_ns()
            for call in calls:
                call()
            end = time.monotonic_ns()
            for i in range(batch):
                for offset, count, first, ranks in self.expected(operation, elements, (salt + i) % self.ranks):
                    self.values.check(outputs[i][offset:offset + count], first, ranks, salt + i)
            times.append(f"{start}:{end}")
            salt += batch
        return "times " + " ".join(times)


def one_line(error):
    return " ".join(str(error).split())[:2000]


def answer(gloo, line):
    _, operation, _, elements, iterations, batch, salt = line.split()
    try:
        return gloo.run(operation, int(elements), int(iterations), int(batch), int(salt))
    except (Unsupported, NotImplementedError) as error:
        return "unsupported " + one_line(error)
    except RuntimeError as error:
        kind = "unsupported" if "support" in str(error) else "failed"
        return f"{kind} {one_line(error)}"
    except Exception as error:  # the controller reports every failure
        return f"failed {type(error).__name__}: {one_line(error)}"


def main():
    rank, ranks, folder, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    torch.set_num_threads(1)
    if name == "gloo_pinned":
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    dist.init_process_group("gloo", init_method=f"file://{folder}/{name}", rank=rank, world_size=ranks)
    gloo = Gloo(rank, ranks)
    gloo.group.barrier().wait()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.connect("\0" + os.environ["COHORT_BENCH_CONTROL"])
        lines = control.makefile("r")
        control.sendall(f"hello {name} {rank} {ranks}\n".encode())
        for line in lines:
            if line.strip() == "end":
                break
            control.sendall((answer(gloo, line) + "\n").encode())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

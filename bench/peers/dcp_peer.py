"""One rank of the peer of `cohort bench checkpoint`: torch.distributed.checkpoint with a process group of Gloo.

Arguments: RANK RANKS FOLDER NAME PARAMETERS ELEMENTS. COHORT_BENCH_CONTROL names the controller's abstract socket;
tools/measure/protocol.h documents the messages. The state has PARAMETERS tensors of ELEMENTS f32, which every rank holds whole, and
two moments of each, sharded over the ranks (DTensor). `state save SALT` fills and saves it, `state load SALT` loads what was saved last
and compares every element.
"""

import os
import pathlib
import shutil
import socket
import sys
import time

try:
    import warnings

    warnings.filterwarnings("ignore")
    import torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard
except ImportError as error:
    sys.exit(f"the Python torch cannot be loaded: {error}")


class State:
    def __init__(self, rank, ranks, parameters, elements):
        mesh, share = init_device_mesh("cpu", (ranks,)), elements // ranks
        self.index, self.expected = torch.arange(elements, dtype=torch.int32), torch.empty(elements, dtype=torch.int32)
        self.mine = slice(share * rank, share * (rank + 1))
        self.tensors, self.locals = {}, []  # a local tensor, its elements, its number
        for i in range(parameters):
            self.add(f"layer{i:02}.weight", torch.zeros(elements), slice(0, elements), lambda tensor: tensor)
            for moment in ("exp_avg", "exp_avg_sq"):
                self.add(f"layer{i:02}.weight/{moment}", torch.zeros(share), self.mine,
                         lambda tensor: DTensor.from_local(tensor, mesh, [Shard(0)], run_check=False))

    def add(self, name, local, elements, wrap):
        self.locals.append((local.view(torch.int32), elements, len(self.locals)))
        self.tensors[name] = wrap(local)

    def values(self, elements, number, salt, out):
        """Bit patterns that differ by tensor, element and salt."""
        torch.mul(self.index[elements], 0x1E3779B1, out=out)
        return out.bitwise_xor_(0x05EBCA77 * (1 + number) % 0x7FFFFFFF).add_(salt * 0x01000193 % 0x7FFFFFFF)

    def fill(self, salt):
        for local, elements, number in self.locals:
            self.values(elements, number, salt, local)

    def spoil(self):
        for local, _, _ in self.locals:
            local.fill_(-1)

    def check(self, salt):
        for local, elements, number in self.locals:
            if not torch.equal(local, self.values(elements, number, salt, self.expected[:local.numel()])):
                raise ValueError(f"tensor {number} has other values than those that were written")


class Peer:
    def __init__(self, rank, ranks, folder, parameters, elements):
        self.rank, self.folder = rank, pathlib.Path(folder) / "dcp"
        self.state = State(rank, ranks, parameters, elements)

    def save(self, salt):
        if self.rank == 0:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.state.fill(salt)
        return self.timed(lambda: dcp.save(self.state.tensors, storage_writer=dcp.FileSystemWriter(self.folder, sync_files=True)))

    def load(self, salt):
        self.state.spoil()
        times = self.timed(lambda: dcp.load(self.state.tensors, storage_reader=dcp.FileSystemReader(self.folder)))
        self.state.check(salt)
        return times

    def timed(self, work):
        if self.rank == 0:
            os.sync()
        dist.barrier()
        start = time.monotonic_ns()
        work()
        return f"times {start}:{time.monotonic_ns()}"

    def answer(self, line):
        words = line.split()
        works = {"save": self.save, "load": self.load}
        if len(words) != 3 or words[0] != "state" or words[1] not in works:
            return "unsupported only 'state save SALT' and 'state load SALT' are understood"
        try:
            return works[words[1]](int(words[2]))
        except Exception as error:  # the controller reports every failure
            return " ".join(f"failed {type(error).__name__}: {error}".split())[:2000]


def main():
    rank, ranks, folder, name, parameters, elements = sys.argv[1:]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/dcp-meeting", rank=int(rank), world_size=int(ranks))
    peer = Peer(int(rank), int(ranks), folder, int(parameters), int(elements))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.connect("\0" + os.environ["COHORT_BENCH_CONTROL"])
        control.sendall(f"hello {name} {rank} {ranks}\n".encode())
        for line in control.makefile("r"):
            if line.strip() == "end":
                break
            control.sendall((peer.answer(line) + "\n").encode())
    os._exit(0)  # threads of Gloo may still run


if __name__ == "__main__":
    main()

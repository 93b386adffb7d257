"""Programs that do the same with every backend: `compared.py PROGRAM BACKEND`. Each rank prints its outcome as JSON, and
backend_test.py compares the outcome of Cohort with that of Gloo."""

import datetime
import json
import os
import pickle
import sys

import torch
import torch.distributed as dist
import torch.distributed._dist2 as dist2

BACKEND = sys.argv[2]
CPU = torch.device("cpu")
STORES = []  # the store of the run


def seconds(number):
    return datetime.timedelta(seconds=number)


def kinds_of_failure(action):
    """The names of the class of the exception and of its base classes; None if nothing is raised."""
    try:
        action()
    except Exception as failure:
        return [kind.__name__ for kind in type(failure).__mro__]
    return None


class World:
    def __init__(self):
        dist.init_process_group(BACKEND, timeout=seconds(60))
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.group, self.store = dist.group.WORLD, dist.distributed_c10d._get_default_store()
        STORES.append(self.store)

    def meet(self, name):
        """A barrier without the group."""
        self.store.set(f"{name} {self.rank}", "")
        self.store.wait([f"{name} {rank}" for rank in range(self.world)])


def numbers():
    """The sequence number of the group after each call."""
    world = World()
    rank, root = world.rank, 0
    parts = [torch.zeros(2) for _ in range(world.world)]

    def message():
        dist.send(torch.ones(2), 1) if rank == 0 else dist.recv(torch.zeros(2), 0)

    calls = {
        "all_reduce": lambda: dist.all_reduce(torch.ones(2)),
        "all_reduce, asynchronous": lambda: dist.all_reduce(torch.ones(2), async_op=True).wait(),
        "all_reduce, sparse": lambda: dist.all_reduce(torch.eye(2).to_sparse()),
        "all_reduce_coalesced": lambda: dist.all_reduce_coalesced([torch.ones(2), torch.ones(3)]),
        "reduce": lambda: dist.reduce(torch.ones(2), root),
        "broadcast": lambda: dist.broadcast(torch.ones(2), root),
        "all_gather": lambda: dist.all_gather(parts, torch.ones(2)),
        "gather": lambda: dist.gather(torch.ones(2), parts if rank == root else None, root),
        "scatter": lambda: dist.scatter(torch.ones(2), parts if rank == root else None, root),
        "all_to_all_single": lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2)),
        "barrier": dist.barrier,
        "send and recv": message,
        "mistake": lambda: kinds_of_failure(lambda: world.group.broadcast(torch.ones(2), 99)),
    }
    found = [("begin", world.group._get_sequence_number_for_group())]
    for name, call in calls.items():
        call()
        found.append((name, world.group._get_sequence_number_for_group()))
    return found


def recorded():
    """The entries of torch's flight recorder."""
    world = World()
    pair = dist.new_group([0, 1], group_desc="a pair")
    dist.all_reduce(torch.ones(2, 3))
    dist.all_reduce(torch.ones(4), group=pair, async_op=True).wait()
    dist.reduce(torch.ones(7, dtype=torch.float64), 0, group=pair)
    dist.broadcast(torch.ones(5, dtype=torch.int64), 0)
    dist.barrier()
    dump = json.loads(torch._C._distributed_c10d._dump_fr_trace_json())
    kept = ("process_group", "collective_seq_id", "op_id", "profiling_name", "input_sizes", "input_dtypes", "output_sizes",
            "output_dtypes", "state", "timeout_ms", "is_p2p")
    if BACKEND == "cohort":
        import cohort_c10d

        assert cohort_c10d.records_flight()
        assert dump["pg_config"]["1"] == {"name": "1", "desc": "a pair", "ranks": "[0, 1]"}
        assert all(entry["retired"] for entry in dump["entries"])
        assert sorted(int(status["last_completed_collective"]) for status in dump["pg_status"].values()) == [2, 3]
        return with_a_message(world, [{key: entry[key] for key in kept} for entry in dump["entries"]])
    return [{key: entry[key] for key in kept} for entry in dump["entries"]]


def with_a_message(world, entries):
    """The entries, after a look at that of a message: Gloo has none for messages."""
    dist.send(torch.ones(2), 1) if world.rank == 0 else dist.recv(torch.zeros(2), 0)
    dump = pickle.loads(torch._C._distributed_c10d._dump_fr_trace())  # has stacks, unlike JSON
    last = dump["entries"][-1]
    assert last["is_p2p"] and last["p2p_seq_id"] == 1 and last["retired"], last
    assert last["frames"] and any(frame["name"] == "with_a_message" for frame in last["frames"]), last["frames"]
    return entries


def by_dist2():
    """The results of calls to groups of _dist2."""
    group = dist2.new_group(backend=BACKEND, timeout=seconds(60), device="cpu")
    STORES.append(group.get_group_store())
    rank, world, limit = group.rank(), group.size(), seconds(30)
    summed, copied = torch.ones(3) + rank, torch.full((3,), rank)
    group.allreduce(summed, timeout=limit).wait()
    group.broadcast(copied, root=1, timeout=limit).wait()
    parts = [torch.zeros(2) for _ in range(world)]
    group.allgather(parts, torch.full((2,), rank + 1.0), timeout=limit).wait()
    gathered = [torch.zeros(2) for _ in range(world)] if rank == 0 else []
    group.gather(gathered, torch.full((2,), rank + 1.0), root=0, timeout=limit).wait()
    scattered = torch.zeros(2)
    group.scatter(scattered, [torch.full((2,), other + 5.0) for other in range(world)] if rank == 0 else [], root=0, timeout=limit).wait()
    reduced = torch.full((2,), rank + 1.0)
    group.reduce(reduced, root=0, op=dist2.ReduceOp.MAX, timeout=limit).wait()
    number = group._get_sequence_number_for_group()
    mine = torch.zeros(2)
    group.reduce_scatter(mine, [torch.full((2,), other + 1.0) for other in range(world)], op=dist2.ReduceOp.SUM, timeout=limit).wait()
    swapped = torch.zeros(2 * world)
    group.all_to_all_single(swapped, torch.full((2 * world,), rank + 1.0), [2] * world, [2] * world, timeout=limit).wait()
    group.barrier(timeout=limit).wait()
    numbers = [summed, copied, *parts, *gathered, scattered, reduced, mine, swapped]
    with dist2.process_group(group):
        is_current = dist2.current_process_group() is group
    part = group.split_group([0], timeout=limit, group_name="part")
    parted = None if part is None else [part.size(), part.group_name, part._get_backend(CPU).options._timeout.seconds]
    alone = part or group.split_group([1], timeout=limit)
    if rank == 0:
        group.split_group([1], timeout=limit)
    if BACKEND == "cohort":  # merging groups of Gloo hangs in every third run
        check_merged(alone.merge_remote_group(group.get_group_store(), world, seconds(40), "whole"), rank)
    return [[each.tolist() for each in numbers], number, is_current, parted]


def check_merged(whole, rank):
    total = torch.ones(1) + rank
    whole.allreduce(total).wait()
    found = [whole.size(), whole.group_name, whole._get_backend(CPU).options._timeout.seconds, total.item()]
    assert found == [2, "whole", 40, 3], found


def mistakes():
    """The exceptions for wrong arguments. No call communicates, and the group stays usable."""
    world = World()
    group, rank, other = world.group, world.rank, 1 - world.rank
    two, four, whole = torch.ones(2), torch.ones(4), torch.ones(4, dtype=torch.int64)
    sparse, strange = torch.eye(2).to_sparse(), torch.ones(2, dtype=torch.uint16)
    calls = {
        "root that does not exist": lambda: group.broadcast([two], rooted(dist.BroadcastOptions, 99)).wait(),
        "no tensors": lambda: group.allreduce([]).wait(),
        "mean of integers": lambda: dist.all_reduce(whole, op=dist.ReduceOp.AVG),
        "bits of floats": lambda: dist.all_reduce(four, op=dist.ReduceOp.BAND),
        "bits of floats, asynchronous": lambda: dist.all_reduce(four, op=dist.ReduceOp.BXOR, async_op=True).wait(),
        "operation of NCCL": lambda: dist.all_reduce(four, op=dist._make_nccl_premul_sum(2.0)),
        "maximum of complex numbers": lambda: group.allreduce([torch.ones(2, dtype=torch.complex64)], dist.ReduceOp.MAX).wait(),
        "maximum of sparse tensors": lambda: dist.all_reduce(sparse, op=dist.ReduceOp.MAX),
        "reduction of a strange type": lambda: dist.all_reduce(strange),
        "reduce of a sparse tensor": lambda: dist.reduce(sparse, 0),
        "broadcast of a sparse tensor": lambda: dist.broadcast(sparse, 0),
        "all_gather into too few": lambda: dist.all_gather([two], two),
        "all_gather into no list": lambda: group.allgather([], [two]).wait(),
        "all_gather into other types": lambda: group.allgather([[torch.ones(2, dtype=torch.int32)] * 2], [two]).wait(),
        "all_gather into a wrong size": lambda: dist.all_gather_into_tensor(torch.zeros(7), two),
        "all_gather into another type": lambda: dist.all_gather_into_tensor(whole, two),
        "gather into too few": lambda: group.gather([[two]], [two], rooted(dist.GatherOptions, rank)).wait(),
        "gather where this rank is not the root": lambda: group.gather([[two, two]], [two], rooted(dist.GatherOptions, other)).wait(),
        "gather with a wrong root": lambda: group.gather([[two, two]], [two], rooted(dist.GatherOptions, 99)).wait(),
        "scatter from too few": lambda: group.scatter([two], [[two]], rooted(dist.ScatterOptions, rank)).wait(),
        "scatter where this rank is not the root": lambda: group.scatter([two], [[two, two]], rooted(dist.ScatterOptions, other)).wait(),
        "reduce_scatter from too few": lambda: dist.reduce_scatter(two, [two]),
        "all_to_all of too few": lambda: dist.all_to_all([two], [two]),
        "all_to_all of no equal parts": lambda: dist.all_to_all_single(torch.ones(3), torch.ones(3)),
        "all_to_all with wrong splits": lambda: dist.all_to_all_single(four, four, [1, 1], [1, 1]),
        "all_to_all with too many splits": lambda: dist.all_to_all_single(four, four, [1, 1, 2], [1, 1, 2]),
        "all_to_all into another type": lambda: dist.all_to_all_single(whole, four),
        "send to itself": lambda: dist.send(two, rank),
        "send with a negative tag": lambda: group.send([two], other, -1).wait(),
        "send of two tensors": lambda: group.send([two, two], other, 0).wait(),
        "send of a sparse tensor": lambda: group.send([sparse], other, 0).wait(),
        "recv with a negative tag": lambda: group.recv([two], other, -1).wait(),
        "coalesced reduction of nothing": lambda: group.allreduce_coalesced([]).wait(),
        "coalesced reduction of two types": lambda: group.allreduce_coalesced([two, whole]).wait(),
        "tensor without memory": lambda: dist.all_reduce(torch.ones(2, device="meta")),
    }
    found = {name: kinds_of_failure(call) for name, call in calls.items()}
    if BACKEND == "cohort":
        dist.barrier()
    return found


def rooted(kind, root):
    options = kind()
    options.rootRank = root
    return options


def impatient_group():
    """A group whose calls have a timeout of a second, but not the joining of its ranks."""
    group = dist.new_group()
    group.set_timeout(seconds(1))
    return group


def failures():
    """The exceptions of calls that the other rank does not make, each in a group of its own. In the end the other rank ends."""
    world = World()
    rank = world.rank
    tensor = torch.ones(4)
    group = None
    alone = {
        "all_reduce": lambda: dist.all_reduce(tensor, group=group),
        "all_reduce, asynchronous": lambda: dist.all_reduce(tensor, group=group, async_op=True).wait(),
        "its future": lambda: dist.all_reduce(tensor, group=group, async_op=True).get_future().wait(),
        "all_gather_object": lambda: dist.all_gather_object([None, None], 1, group=group),
        "barrier": lambda: dist.barrier(group=group),
        "recv": lambda: dist.irecv(tensor, 1, group=group).wait(seconds(1)),
        "recv from any": lambda: dist.irecv(tensor, group=group).wait(seconds(1)),
        "monitored_barrier": lambda: dist.monitored_barrier(group=group, timeout=seconds(1)),
    }
    found = {}
    for name, call in alone.items():
        group = impatient_group()
        if rank == 0:
            found[name] = kinds_of_failure(call)
        world.meet(name)
    group = impatient_group()
    if rank == 0:
        found["group that a rank does not join"] = kinds_of_failure(lambda: dist.new_group(timeout=seconds(1)))
    world.meet("group that a rank does not join")
    if rank == 1:
        return None
    found["killed"] = kinds_of_failure(lambda: [dist.all_reduce(tensor, group=group) for _ in range(2)])
    found["after that"] = kinds_of_failure(lambda: dist.all_reduce(tensor, group=group))
    return found


def main():
    outcome = globals()[sys.argv[1]]()
    print(json.dumps(outcome), flush=True)
    leave()


def leave():
    """Ends the process without the destructor of Gloo's group, which may hang (train.py). Rank 0, which has the store, ends
    last."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if rank == 0:
        STORES[0].wait([f"left {other}" for other in range(1, world)])
    else:
        STORES[0].set(f"left {rank}", "")
    os._exit(0)


if __name__ == "__main__":
    main()

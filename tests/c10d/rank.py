"""One rank of the tests of the backend: `rank.py CLASS` runs all methods `test_…` of a class, in the same order on all
ranks. Each rank knows the inputs of the others, so it can compute the expected results."""

import datetime
import functools
import multiprocessing
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

from train import leave_gloo

NUMBERS = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
OPS = {
    dist.ReduceOp.SUM: lambda a, b: a + b,
    dist.ReduceOp.PRODUCT: lambda a, b: a * b,
    dist.ReduceOp.MIN: torch.minimum,
    dist.ReduceOp.MAX: torch.maximum,
    dist.ReduceOp.BAND: torch.bitwise_and,
    dist.ReduceOp.BOR: torch.bitwise_or,
    dist.ReduceOp.BXOR: torch.bitwise_xor,
}
BITS = (dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR)


def given(rank, dtype=torch.float32, shape=(5, 3), salt=0):
    """The input of a rank: small integers that differ between ranks and are exact in every type."""
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 7 + rank * 3 + salt) % 4 + 1).reshape(shape).to(dtype)


def equal(got, expected, what=""):
    assert got.dtype == expected.dtype and got.shape == expected.shape, f"{what}: {got.dtype} {got.shape}"
    assert torch.equal(got, expected), f"{what}: {got} instead of {expected}"


def raises(kinds, words, action):
    try:
        action()
    except kinds as failure:
        for word in words:
            assert word in str(failure), f"no '{word}' in: {failure}"
        return str(failure)
    raise AssertionError(f"nothing was raised; {words} were expected")


class Ranks:
    backend = "cohort"
    timeout = 60

    def __init__(self):
        dist.init_process_group(self.backend, timeout=datetime.timedelta(seconds=self.timeout))
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.everyone = range(self.world)

    def combined(self, op, dtype, **how):
        return functools.reduce(OPS[op], [given(rank, dtype, **how) for rank in self.everyone])


class Collectives(Ranks):
    def test_all_reduce_of_every_type_and_operation(self):
        for dtype in NUMBERS:
            for op in OPS:
                if op in BITS and dtype.is_floating_point:
                    continue
                tensor = given(self.rank, dtype)
                dist.all_reduce(tensor, op=op)
                equal(tensor, self.combined(op, dtype), f"{op} of {dtype}")

    def test_truth_values(self):
        for op, expected in ((dist.ReduceOp.SUM, True), (dist.ReduceOp.BOR, True), (dist.ReduceOp.PRODUCT, False), (dist.ReduceOp.BAND, False)):
            tensor = torch.tensor([self.rank == 0, True, False])
            dist.all_reduce(tensor, op=op)
            equal(tensor, torch.tensor([expected, True, False]), f"{op}")

    def test_means(self):
        tensor = given(self.rank)
        dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
        torch.testing.assert_close(tensor, self.combined(dist.ReduceOp.SUM, torch.float32) / self.world)
        out = torch.empty(2)
        dist.reduce_scatter_tensor(out, given(self.rank, shape=(2 * self.world,)), op=dist.ReduceOp.AVG)
        whole = self.combined(dist.ReduceOp.SUM, torch.float32, shape=(2 * self.world,)) / self.world
        torch.testing.assert_close(out, whole.chunk(self.world)[self.rank])
        raises(RuntimeError, ["no mean", "i32"], lambda: dist.all_reduce(given(self.rank, torch.int32), op=dist.ReduceOp.AVG))

    def test_tensors_that_are_not_in_one_piece(self):
        for view in (lambda t: t.t(), lambda t: t[:, 1:], lambda t: t[::2], lambda t: t.unsqueeze(0).expand(1, 6, 4)):
            tensor = view(given(self.rank, shape=(6, 4)))
            dist.all_reduce(tensor)
            equal(tensor, view(self.combined(dist.ReduceOp.SUM, torch.float32, shape=(6, 4))))
        whole = torch.zeros(4, 6)
        dist.broadcast(whole.t(), src=0) if self.rank else dist.broadcast(given(0, shape=(6, 4)), src=0)
        if self.rank:
            equal(whole.t(), given(0, shape=(6, 4)))

    def test_large_and_empty_ones(self):
        for shape in ((0,), (0, 3), (1,), (), (3_000_001,)):
            tensor = given(self.rank, shape=shape)
            dist.all_reduce(tensor)
            equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32, shape=shape), f"{shape}")
            parts = [torch.zeros(shape) for _ in self.everyone]
            dist.all_gather(parts, given(self.rank, shape=shape))
            for rank in self.everyone:
                equal(parts[rank], given(rank, shape=shape))

    def test_moving_every_type(self):
        for dtype in (*NUMBERS, torch.bool, torch.complex64, torch.complex128):
            for root in self.everyone:
                tensor = given(self.rank, dtype)
                dist.broadcast(tensor, src=root)
                equal(tensor, given(root, dtype))
            whole = torch.empty(5 * self.world, 3, dtype=dtype)
            dist.all_gather_into_tensor(whole, given(self.rank, dtype))
            equal(whole, torch.cat([given(rank, dtype) for rank in self.everyone]))

    def test_complex_sums(self):
        tensor = torch.complex(given(self.rank), given(self.rank, salt=1))
        dist.all_reduce(tensor)
        equal(tensor, torch.complex(self.combined(dist.ReduceOp.SUM, torch.float32), self.combined(dist.ReduceOp.SUM, torch.float32, salt=1)))

    def test_reduce(self):
        for root in self.everyone:
            tensor = given(self.rank)
            dist.reduce(tensor, dst=root)
            equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32) if self.rank == root else given(self.rank))

    def test_lists(self):
        uneven = [torch.zeros(rank + 1) for rank in self.everyone]
        dist.all_gather(uneven, torch.full((self.rank + 1,), float(self.rank)))
        for rank in self.everyone:
            equal(uneven[rank], torch.full((rank + 1,), float(rank)))
        root = self.world - 1
        parts = [torch.zeros(5, 3) for _ in self.everyone] if self.rank == root else None
        dist.gather(given(self.rank), parts, dst=root)
        if self.rank == root:
            for rank in self.everyone:
                equal(parts[rank], given(rank))
        out = torch.zeros(5, 3)
        dist.scatter(out, [given(rank, salt=9) for rank in self.everyone] if self.rank == 0 else None, src=0)
        equal(out, given(self.rank, salt=9))
        dist.reduce_scatter(out, [given(self.rank, salt=rank) for rank in self.everyone])
        equal(out, self.combined(dist.ReduceOp.SUM, torch.float32, salt=self.rank))
        received = [torch.zeros(5, 3) for _ in self.everyone]
        dist.all_to_all(received, [given(self.rank, salt=rank) for rank in self.everyone])
        for rank in self.everyone:
            equal(received[rank], given(rank, salt=self.rank))

    def test_all_to_all_of_any_sizes(self):
        # Rank r sends r + s + 1 rows to rank s.
        rows = lambda sender, receiver: torch.full((sender + receiver + 1, 2), sender * 10.0 + receiver)  # noqa: E731
        sent = [self.rank + other + 1 for other in self.everyone]
        out = torch.zeros(sum(sent), 2)
        dist.all_to_all_single(out, torch.cat([rows(self.rank, other) for other in self.everyone]), sent, sent)
        equal(out, torch.cat([rows(other, self.rank) for other in self.everyone]))
        even = torch.zeros(self.world * 2)
        dist.all_to_all_single(even, given(self.rank, shape=(self.world * 2,)))
        equal(even, torch.cat([given(other, shape=(self.world * 2,)).chunk(self.world)[self.rank] for other in self.everyone]))
        raises(RuntimeError, ["rows"], lambda: dist.all_to_all_single(torch.zeros(self.world + 1), torch.zeros(self.world + 1)))
        dist.barrier()

    def test_several_at_once(self):
        tensors = [given(self.rank, shape=(n,)) for n in (3, 0, 7)]
        dist.all_reduce_coalesced(tensors)
        for n, tensor in zip((3, 0, 7), tensors):
            equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32, shape=(n,)))
        with dist._coalescing_manager(async_ops=True) as manager:
            first, second = given(self.rank), given(self.rank, salt=2)
            dist.all_reduce(first)
            dist.all_reduce(second)
        manager.wait()
        equal(first, self.combined(dist.ReduceOp.SUM, torch.float32))
        equal(second, self.combined(dist.ReduceOp.SUM, torch.float32, salt=2))
        wholes = [torch.zeros(n * self.world) for n in (2, 5)]
        with dist._coalescing_manager(async_ops=True) as manager:
            for n, whole in zip((2, 5), wholes):
                dist.all_gather_into_tensor(whole, given(self.rank, shape=(n,)))
        manager.wait()
        for n, whole in zip((2, 5), wholes):
            equal(whole, torch.cat([given(rank, shape=(n,)) for rank in self.everyone]))
        parts = [torch.zeros(n) for n in (2, 5)]
        with dist._coalescing_manager(async_ops=True) as manager:
            for n, part in zip((2, 5), parts):
                dist.reduce_scatter_tensor(part, given(self.rank, shape=(n * self.world,)))
        manager.wait()
        for n, part in zip((2, 5), parts):
            equal(part, self.combined(dist.ReduceOp.SUM, torch.float32, shape=(n * self.world,)).chunk(self.world)[self.rank])

    def test_functional_collectives(self):
        import torch.distributed._functional_collectives as functional

        group = dist.group.WORLD
        equal(functional.all_reduce(given(self.rank), "sum", group).wait(), self.combined(dist.ReduceOp.SUM, torch.float32))
        whole = functional.all_gather_tensor(given(self.rank), 0, group).wait()
        equal(whole, torch.cat([given(rank) for rank in self.everyone]))
        shape = (self.world * 2, 3)
        part = functional.reduce_scatter_tensor(given(self.rank, shape=shape), "sum", 0, group).wait()
        equal(part, self.combined(dist.ReduceOp.SUM, torch.float32, shape=shape).chunk(self.world)[self.rank])

    def test_sparse_sums(self):
        indices = torch.tensor([[0, self.rank + 1]])
        tensor = torch.sparse_coo_tensor(indices, torch.tensor([[1.0, 2.0], [3.0, 4.0]]), (self.world + 1, 2))
        dense = sum(
            torch.sparse_coo_tensor(torch.tensor([[0, rank + 1]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]), (self.world + 1, 2)).to_dense()
            for rank in self.everyone
        )
        dist.all_reduce(tensor)
        equal(tensor.to_dense(), dense)
        longer = torch.sparse_coo_tensor(indices, torch.tensor([1.0, 2.0]), (self.world + 1 + self.rank,))
        raises(RuntimeError, ["same shape", "rank"], lambda: dist.all_reduce(longer))

    def test_works_and_futures(self):
        tensor = given(self.rank, shape=(100_000,))
        work = dist.all_reduce(tensor, async_op=True)
        doubled = work.get_future().then(lambda future: future.value()[0] * 2)
        work.wait()
        assert work.is_completed() and work.is_success()
        expected = self.combined(dist.ReduceOp.SUM, torch.float32, shape=(100_000,))
        equal(tensor, expected)
        equal(doubled.wait(), expected * 2)
        # Many calls at a time, waited for in reverse order; the tensors of some are not kept.
        tensors = [given(self.rank, salt=i) for i in range(50)]
        works = [dist.all_reduce(each, async_op=True) for each in tensors]
        for _ in range(10):
            dist.all_reduce(given(self.rank), async_op=True)
        for i in reversed(range(50)):
            works[i].wait()
            equal(tensors[i], self.combined(dist.ReduceOp.SUM, torch.float32, salt=i))
        # A callback may wait for another call.
        inner = given(self.rank)
        outer = dist.all_reduce(given(self.rank), async_op=True).get_future()
        chained = outer.then(lambda _: dist.all_reduce(inner, async_op=True).get_future().wait()[0])
        equal(chained.wait(), self.combined(dist.ReduceOp.SUM, torch.float32))

    def test_many_callbacks_that_wait(self):
        """Twelve callbacks wait for the thirteenth. Rank 0 starts last, so that no call has ended when callbacks are added."""
        store = dist.distributed_c10d._get_default_store()
        if self.rank == 0:
            store.wait([f"callbacks {rank}" for rank in self.everyone if rank])
            works = [dist.all_reduce(given(0), async_op=True) for _ in range(13)]
            return [work.wait() for work in works]
        gate = torch.futures.Future()
        futures = [dist.all_reduce(given(self.rank), async_op=True).get_future() for _ in range(13)]
        waiting = [future.then(lambda _: gate.wait()) for future in futures[:12]]
        futures[12].then(lambda _: gate.set_result(5))
        store.set(f"callbacks {self.rank}", "")
        assert [each.wait() for each in waiting] == [5] * 12

    def test_what_is_begun_is_ended_by_who_leaves(self):
        """Rank 0 destroys the group without waiting for its call; the others still get the result."""
        group = dist.new_group()
        tensor = given(self.rank, shape=(300_000,))
        if self.rank == 0:
            dist.all_reduce(tensor, group=group, async_op=True)
        else:
            time.sleep(0.2)
            dist.all_reduce(tensor, group=group)
            equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32, shape=(300_000,)))
        dist.destroy_process_group(group)

    def test_modes_of_the_caller(self):
        with torch.inference_mode():
            parts = [torch.zeros(5, 3) for _ in self.everyone]
            dist.all_gather(parts, given(self.rank), async_op=True).wait()
            equal(parts[0], given(0))
        weight = torch.nn.Parameter(given(self.rank, shape=(4, 6)).t())
        with torch.no_grad():
            dist.broadcast(weight, src=0, async_op=True).wait()
        equal(weight.detach(), given(0, shape=(4, 6)).t())

    def test_objects(self):
        objects = [None] * self.world
        dist.all_gather_object(objects, {"rank": self.rank, "text": "x" * (self.rank * 100)})
        assert [each["rank"] for each in objects] == list(self.everyone)
        shared = [("from", 0)] if self.rank == 0 else [None]
        dist.broadcast_object_list(shared, src=0)
        assert shared == [("from", 0)]
        own = [None]
        dist.scatter_object_list(own, list("abcdefgh"[: self.world]) if self.rank == 0 else None, src=0)
        assert own == ["abcdefgh"[self.rank]]
        gathered = [None] * self.world if self.rank == 0 else None
        dist.gather_object(self.rank, gathered, dst=0)
        assert self.rank or gathered == list(self.everyone)

    def test_barriers(self):
        for _ in range(3):
            dist.barrier()
            dist.monitored_barrier()
        assert dist.barrier(async_op=True).wait() is not False

    def test_complex_numbers_are_combined_as_pairs(self):
        def numbers(rank, count=4):
            return torch.complex(torch.arange(count) * 1.0 + rank, torch.arange(count) * 2.0 - rank)

        total = sum((numbers(rank) for rank in self.everyone), torch.zeros(4, dtype=torch.complex64))
        tensor = numbers(self.rank)
        dist.reduce(tensor, 0, op=dist.ReduceOp.AVG)
        equal(tensor, total / self.world if self.rank == 0 else numbers(self.rank))
        whole = torch.cat([numbers(self.rank)] * self.world)
        part = torch.zeros(4, dtype=torch.complex64)
        dist.reduce_scatter_tensor(part, whole)
        equal(part, total)
        uneven = [numbers(self.rank, 4 + rank) for rank in self.everyone]
        part = torch.zeros(4 + self.rank, dtype=torch.complex64)
        dist.reduce_scatter(part, uneven)
        equal(part, sum((numbers(rank, 4 + self.rank) for rank in self.everyone), torch.zeros_like(part)))
        raises(RuntimeError, ["complex", "SUM"], lambda: dist.reduce(numbers(self.rank), 0, op=dist.ReduceOp.MAX))

    def test_input_may_overlap_output(self):
        def whole():
            return torch.arange(3.0 * self.world) + 100 * self.rank

        tensor = whole()
        dist.all_gather_into_tensor(tensor, tensor[1:4])
        equal(tensor, torch.cat([torch.arange(1.0, 4.0) + 100 * rank for rank in self.everyone]))
        tensor = whole()
        dist.reduce_scatter_tensor(tensor[1:4], tensor)
        mine = sum((torch.arange(3.0 * self.world) + 100 * rank for rank in self.everyone), torch.zeros(3 * self.world))
        equal(tensor[1:4], mine[3 * self.rank:3 * self.rank + 3])
        tensor = whole()
        dist.all_to_all_single(tensor, tensor)
        equal(tensor, torch.cat([torch.arange(3.0) + 3 * self.rank + 100 * rank for rank in self.everyone]))

    def test_tensors_of_one_group_call(self):
        tensors = [given(self.rank), given(self.rank, torch.int64)]
        dist.group.WORLD.allreduce(tensors).wait()
        equal(tensors[0], self.combined(dist.ReduceOp.SUM, torch.float32))
        equal(tensors[1], self.combined(dist.ReduceOp.SUM, torch.int64))
        raises(RuntimeError, ["single memory location"], lambda: dist.all_reduce(torch.ones(1).expand(4)))


class Messages(Ranks):
    def test_round_a_ring(self):
        following, before = (self.rank + 1) % self.world, (self.rank - 1) % self.world
        got = torch.zeros(5, 3)
        sent = dist.isend(given(self.rank), following, tag=3)
        assert dist.recv(got, before, tag=3) == before
        sent.wait()
        equal(got, given(before))
        got.zero_()
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, given(self.rank), following), dist.P2POp(dist.irecv, got, before)]):
            work.wait()
        equal(got, given(before))

    def test_from_anybody(self):
        if self.rank != 0:
            return dist.send(given(self.rank), 0, tag=8)
        sources = set()
        for _ in range(self.world - 1):
            got = torch.zeros(5, 3)
            source = dist.recv(got, tag=8)
            equal(got, given(source))
            sources.add(source)
        assert sources == set(range(1, self.world))

    def test_views_and_types(self):
        if self.rank == 0:
            dist.send(given(0, torch.bool, (4, 6)).t(), 1)
        elif self.rank == 1:
            got = torch.zeros(4, 6, dtype=torch.bool)
            dist.recv(got.t(), 0)
            equal(got, given(0, torch.bool, (4, 6)))

    def test_more_than_anybody_would_keep(self):
        """A message of more than 1 GiB that is sent before the receive is posted."""
        length = (1 << 30) + 4096
        if self.rank == 0:
            sent = dist.isend(torch.full((length,), 3, dtype=torch.uint8), 1, tag=1)
            dist.send(torch.zeros(1), 1, tag=2)
            sent.wait()
        elif self.rank == 1:
            dist.recv(torch.zeros(1), 0, tag=2)
            got = torch.zeros(length, dtype=torch.uint8)
            dist.recv(got, 0, tag=1)
            assert got[0] == 3 and got[-1] == 3

    def test_into_more_room(self):
        if self.rank == 0:
            dist.send(torch.ones(3), 1)
            dist.send(torch.ones(3), 1)
        elif self.rank == 1:
            got = torch.zeros(5)
            work = dist.irecv(got, 0)
            work.wait()
            assert work._source_rank() == 0
            equal(got, torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0]))
            strided = torch.full((5, 2), 7.0)
            dist.recv(strided[:, 0], 0)
            equal(strided, torch.tensor([[1.0, 7.0]] * 3 + [[7.0, 7.0]] * 2))

    def test_objects(self):
        if self.rank == 0:
            dist.send_object_list(["a", 2], dst=1)
        elif self.rank == 1:
            objects = [None, None]
            dist.recv_object_list(objects, src=0)
            assert objects == ["a", 2]


class Groups(Ranks):
    def test_groups_of_some(self):
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        mine = pairs[self.rank // 2]
        tensor = torch.tensor([float(self.rank)])
        dist.all_reduce(tensor, group=mine)
        equal(tensor, torch.tensor([1.0 if self.rank < 2 else 5.0]))
        dist.destroy_process_group(mine)

    def test_split(self):
        group = dist.split_group(split_ranks=[[0, 2], [1, 3]], timeout=datetime.timedelta(seconds=7))
        timeouts = [dist.distributed_c10d._get_default_group(), group]
        assert [each._get_backend(torch.device("cpu")).options._timeout.seconds for each in timeouts] == [60, 7]
        tensor = torch.tensor([float(self.rank)])
        dist.all_reduce(tensor, group=group)
        equal(tensor, torch.tensor([2.0 if self.rank % 2 == 0 else 4.0]))
        assert dist.get_backend(group) == "cohort"

    def test_mesh(self):
        from torch.distributed.device_mesh import init_device_mesh

        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "columns"))
        for name, expected in (("rows", [2.0, 4.0, 2.0, 4.0]), ("columns", [1.0, 1.0, 5.0, 5.0])):
            tensor = torch.tensor([float(self.rank)])
            dist.all_reduce(tensor, group=mesh.get_group(name))
            equal(tensor, torch.tensor([expected[self.rank]]))

    def test_subgroups(self):
        mine, _ = dist.new_subgroups(2)
        objects = [None, None]
        dist.all_gather_object(objects, self.rank, group=mine)
        assert objects == [self.rank // 2 * 2, self.rank // 2 * 2 + 1]

    def test_again_after_the_end(self):
        """A second group with the same store, which still has the keys of the first."""
        store = dist.distributed_c10d._get_default_store().underlying_store
        dist.destroy_process_group()
        dist.init_process_group("cohort", store=store, rank=self.rank, world_size=self.world,
                                timeout=datetime.timedelta(seconds=self.timeout))
        tensor = torch.ones(1)
        dist.all_reduce(tensor)
        equal(tensor, torch.tensor([4.0]))


class Failures(Ranks):
    timeout = 60

    def test_mistakes_do_not_end_the_group(self):
        raises(RuntimeError, ["2 for each of"], lambda: dist.all_gather_into_tensor(torch.zeros(7), torch.zeros(2)))
        raises(RuntimeError, ["type"], lambda: dist.all_gather_into_tensor(torch.zeros(4), torch.zeros(2, dtype=torch.int32)))
        raises(RuntimeError, ["bitwise operations"], lambda: dist.all_reduce(torch.zeros(2), op=dist.ReduceOp.BAND))
        dist.barrier()

    def test_who_does_not_pass_a_monitored_barrier_is_named(self):
        if self.rank == 0:
            raises(dist.DistBackendError, ["Rank 1 failed"], lambda: dist.monitored_barrier(timeout=datetime.timedelta(seconds=1)))
        else:
            time.sleep(1.5)
        dist.barrier()
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=10))  # all ranks pass the next barrier

    def test_who_is_late_is_named_within_the_time(self):
        group = dist.new_group(timeout=datetime.timedelta(seconds=1))
        if self.rank == 0:
            began = time.monotonic()
            raises(dist.DistBackendError, ["rank 1", "all_reduce"], lambda: dist.all_reduce(torch.zeros(4), group=group))
            assert time.monotonic() - began < 30
        dist.barrier()

    def test_calls_that_differ_are_named(self):
        group = dist.new_group()
        raises(dist.DistBackendError, ["8 f32", "4 f32"], lambda: dist.all_reduce(torch.zeros(4 + 4 * self.rank), group=group))
        dist.barrier()


class Killed(Ranks):
    def test_who_is_killed_is_named(self):
        dist.barrier()
        if self.rank == 1:
            os.kill(os.getpid(), 9)
        began = time.monotonic()
        words = raises(dist.DistBackendError, ["rank 1"], lambda: [dist.all_reduce(torch.zeros(1000)) for _ in range(1000)])
        assert time.monotonic() - began < 10, words
        raises(dist.DistBackendError, ["rank 1"], lambda: dist.all_reduce(torch.zeros(4), async_op=True).wait())


class Frozen(Ranks):
    """With COHORT_LIVENESS=1s."""

    def test_who_is_frozen_is_named(self):
        store = dist.distributed_c10d._get_default_store()
        store.set(f"process {self.rank}", str(os.getpid()))
        other = int(store.get("process 1"))
        dist.barrier()
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        try:
            raises(dist.DistBackendError, ["rank 1", "sign of life"], lambda: dist.all_reduce(torch.zeros(1000)))
        finally:
            os.kill(other, signal.SIGKILL)


class Absent(Ranks):
    """Rank 0 ends with an error. The default group is of Gloo, so that only the last group lacks rank 1."""

    backend = "gloo"

    def test_who_does_not_come_is_named(self):
        dist.new_group([0], backend="cohort")
        if self.rank == 0:
            dist.new_group(backend="cohort", timeout=datetime.timedelta(seconds=2))


def lies_in_an_arena(tensor):
    return any("cohort-arena" in line and int(line.split("-")[0], 16) <= tensor.data_ptr() < int(line.split("-")[1].split()[0], 16)
               for line in open("/proc/self/maps"))


class Arenas(Ranks):
    def test_buckets_of_ddp_lie_in_the_arena(self):
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(50, 20), gradient_as_bucket_view=True)
        net(torch.ones(3, 50)).sum().backward()
        assert lies_in_an_arena(net.module.weight.grad)
        equal(net.module.weight.grad, torch.full((20, 50), 3.0))

    def test_tensors_in_the_arena_can_be_resized(self):
        tensor = self.own_tensor()
        tensor.resize_(3 << 20)
        assert lies_in_an_arena(tensor) and tensor.nbytes == 12 << 20
        equal(tensor[:1 << 20], torch.ones(1 << 20))
        tensor.fill_(2)
        dist.all_reduce(tensor)
        equal(tensor, torch.full((3 << 20,), 2.0 * self.world))
        part = tensor[:5]
        tensor.resize_(2)
        equal(part, torch.full((5,), 2.0 * self.world))

    def test_what_the_arena_has_no_room_for_lies_elsewhere(self):
        backend = dist.group.WORLD._get_backend(torch.device("cpu"))
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 12 << 30:  # on smaller machines the allocation itself fails
            tensor = backend.allocate_tensor(9 << 30, dtype=torch.uint8, device=torch.device("cpu"))
            assert tensor.nbytes == 9 << 30 and not lies_in_an_arena(tensor)
        raises(RuntimeError, ["meta"], lambda: backend.allocate_tensor(1, dtype=torch.float32, device=torch.device("meta")))

    def test_large_tensors_lie_in_the_arena(self):
        import cohort_c10d

        assert cohort_c10d.kind() == "shared memory"
        cohort_c10d.allocate_in_arena(at_least=1 << 20)
        tensor = given(self.rank, shape=(1 << 20,))
        assert lies_in_an_arena(tensor)
        dist.all_reduce(tensor)
        equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32, shape=(1 << 20,)))
        cohort_c10d.allocate_as_usual()
        again = given(self.rank, shape=(1 << 20,))
        dist.all_reduce(again)
        equal(again, tensor)

    def test_memory_is_used_again(self):
        import cohort_c10d

        cohort_c10d.allocate_in_arena(at_least=1 << 20)
        length = 3 << 20  # no other test uses this length
        torch.full((length,), 7.0)
        assert (torch.empty(length) == 7).all()  # new memory would be zeros
        cohort_c10d.allocate_as_usual()

    def test_a_child_has_none_of_it_to_give(self):
        import cohort_c10d

        own = self.own_tensor()
        cohort_c10d.allocate_in_arena(at_least=1 << 20)
        kept = torch.full((1 << 20,), 3.0)
        go_on, may_go_on = os.pipe()
        child = os.fork()
        if child == 0:
            os.read(go_on, 1)
            other = torch.full((1 << 20,), 4.0)
            kept.zero_()
            own.zero_()
            del kept, own
            dist.destroy_process_group()
            os._exit(0 if other[0] == 4 else 1)
        fresh = torch.full((1 << 20,), 5.0)  # would share memory with the child's next tensor
        os.write(may_go_on, b".")
        assert os.waitpid(child, 0)[1] == 0
        equal(kept, torch.full((1 << 20,), 3.0))
        equal(fresh, torch.full((1 << 20,), 5.0))
        cohort_c10d.allocate_as_usual()
        dist.all_reduce(own)
        equal(own, torch.full((1 << 20,), float(self.world)))

    def own_tensor(self):
        backend = dist.group.WORLD._get_backend(torch.device("cpu"))
        return backend.allocate_tensor(1 << 20, dtype=torch.float32, device=torch.device("cpu")).fill_(1)


class Forking(Ranks):
    """Children that end as programs end them, while the ranks use the group."""

    def status_of_child(self, body):
        """The wait status of a forked child. A child that hangs is ended by its alarm."""
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            body()
            sys.exit(0)  # with exit handlers and destructors
        return os.waitpid(child, 0)[1]

    def go_on(self):
        tensor = given(self.rank, shape=(1000,))
        dist.all_reduce(tensor)
        equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32, shape=(1000,)))

    def test_a_child_that_exits(self):
        self.go_on()
        assert self.status_of_child(lambda: None) == 0
        self.go_on()

    def test_a_child_that_destroys_the_group(self):
        assert self.status_of_child(dist.destroy_process_group) == 0
        self.go_on()

    def test_a_child_made_during_a_call(self):
        """Rank 1 makes the call when the child of rank 0 has ended."""
        store = dist.distributed_c10d._get_default_store()
        tensor = given(self.rank)
        if self.rank > 0:
            store.wait(["the child has ended"])
        work = dist.all_reduce(tensor, async_op=True)
        if self.rank == 0:
            assert self.status_of_child(lambda: None) == 0
            store.set("the child has ended", "")
        work.wait()
        equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32))

    def test_a_child_made_during_a_callback(self):
        """The callback ends when the child has ended."""
        child_ended = threading.Event()
        done = dist.all_reduce(given(self.rank), async_op=True).get_future().then(lambda _: child_ended.wait())
        assert self.status_of_child(lambda: None) == 0
        child_ended.set()
        done.wait()
        self.go_on()

    def test_a_call_in_a_child_is_an_error(self):
        def call():
            for action in (lambda: dist.all_reduce(torch.ones(3)), lambda: dist.all_reduce(torch.ones(3), async_op=True), dist.barrier):
                raises(RuntimeError, ["forked child", "spawn"], action)

        assert self.status_of_child(call) == 0
        self.go_on()

    def test_processes_of_multiprocessing(self):
        queue = multiprocessing.get_context("fork").SimpleQueue()
        workers = [multiprocessing.get_context("fork").Process(target=queue.put, args=(number,)) for number in range(3)]
        for worker in workers:
            worker.start()
        self.go_on()
        assert sorted(queue.get() for _ in workers) == [0, 1, 2]
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0, worker.exitcode
        self.go_on()

    def test_workers_of_a_data_loader(self):
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
        numbers = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(12, 1))
        for _ in range(2):  # the workers of the first epoch end before those of the second start
            for (batch,) in torch.utils.data.DataLoader(numbers, batch_size=3, num_workers=2, multiprocessing_context="fork"):
                net.zero_grad()
                net(batch * (self.rank + 1)).sum().backward()
                equal(net.module.weight.grad, batch.sum().reshape(1, 1) * (1 + self.world) / 2)


class Checked(Ranks):
    """With TORCH_DISTRIBUTED_DEBUG=DETAIL, where torch compares all calls before it passes them to the backend."""

    def test_calls(self):
        tensor = given(self.rank)
        dist.all_reduce(tensor)
        equal(tensor, self.combined(dist.ReduceOp.SUM, torch.float32))
        parts = [torch.zeros(5, 3) for _ in self.everyone]
        dist.all_gather(parts, given(self.rank))
        equal(torch.stack(parts), torch.stack([given(rank) for rank in self.everyone]))
        dist.monitored_barrier()
        assert dist.group.WORLD._get_sequence_number_for_group() == 2

    def test_calls_that_differ_are_named_by_torch(self):
        def call():
            dist.all_reduce(torch.ones(4)) if self.rank == 0 else dist.broadcast(torch.ones(4), 0)

        raises(RuntimeError, ["Detected mismatch between collectives on ranks", "SequenceNumber=", "OpType=ALLREDUCE", "OpType=BROADCAST"], call)

    def test_training(self):
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(50, 20))
        net(torch.full((3, 50), float(self.rank))).sum().backward()
        equal(net.module.weight.grad, torch.full((20, 50), 3 * sum(self.everyone) / self.world))

    def test_groups(self):
        group = dist.split_group(split_ranks=[list(self.everyone)])
        tensor = torch.ones(1)
        dist.all_reduce(tensor, group=group)
        equal(tensor, torch.tensor([float(self.world)]))

    def test_kind(self):
        import cohort_c10d

        assert cohort_c10d.kind() == "shared memory"


class Several(Collectives):
    """The collectives between hosts."""

    def test_kind(self):
        import cohort_c10d

        assert cohort_c10d.kind() == os.environ.get("EXPECTED_KIND", "hosts"), cohort_c10d.kind()


def main():
    dist.set_debug_level_from_env()
    instance = globals()[sys.argv[1]]()
    only = sys.argv[2:]
    for name in [name for name in dir(instance) if name.startswith("test_")]:
        if only and name not in only:
            continue
        getattr(instance, name)()
        if instance.rank == 0:
            print(f"{sys.argv[1]}.{name} passed", flush=True)
    if dist.get_debug_level() == dist.DebugLevel.DETAIL:
        leave_gloo()  # torch checks calls by a group of Gloo
    if sys.argv[1] != "Killed":
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

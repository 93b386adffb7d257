#!/usr/bin/env python3
"""Tests of the backend cohort of torch.distributed. The ranks are Python processes that use only torch's API. Most are forked
from a process that has imported torch (rank_server.py), as the import takes longer than most tests. Examples, the wheel and
one rank of every run between hosts are new processes.

  backend_test.py PYTHON PACKAGES CLASS    PACKAGES: the folder with the package cohort_c10d"""

import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hosts"))
from cluster import Cluster, missing  # noqa: E402
from forked_rank import RankServer  # noqa: E402

PYTHON, PACKAGES = sys.argv[1:3]
LIMIT_S = 150


def free_port():
    """A free port below the ephemeral range, so that no other test gets it before rank 0 listens there."""
    handed_out_from = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10000, handed_out_from)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return str(port)


def environment(rank, world, address="127.0.0.1", port="", packages=PACKAGES):
    return {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_ADDR": address, "MASTER_PORT": port, "OMP_NUM_THREADS": "1",
            "PYTHONPATH": packages, "TORCH_CPP_LOG_LEVEL": "ERROR", "PYTHONWARNINGS": "ignore"}


class Ranks(unittest.TestCase):
    modules = ["torch", "torch._dynamo", "torch.distributed._functional_collectives"]  # that forked ranks find imported
    server = None

    @classmethod
    def forking(cls):
        if cls.server is None:
            cls.server = RankServer(PYTHON, environment(0, 1), cls.modules)
            cls.addClassCleanup(cls.server.close)
        return cls.server

    def finish(self, processes, expected=()):
        """The output of rank 0. `expected`: exit codes other than 0, by rank."""
        deadline = time.monotonic() + LIMIT_S
        texts = []
        try:
            for process in processes:
                texts.append(process.communicate(timeout=max(1, deadline - time.monotonic())))
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        for rank, process in enumerate(processes):
            wanted = dict(expected).get(rank, 0)
            self.assertEqual(process.returncode, wanted, f"rank {rank}: {texts[rank][1][-3000:]}")
        return texts[0][0]

    def start(self, world, script, *words, **variables):
        port = free_port()
        return [self.forking().start(HERE / script, words, environment(rank, world, port=port) | variables) for rank in range(world)]

    def start_anew(self, world, script, *words, packages=PACKAGES):
        """The ranks are new processes, which import torch themselves."""
        port = free_port()
        return [subprocess.Popen([PYTHON, str(HERE / script), *words], env=environment(rank, world, port=port, packages=packages),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(world)]

    def run_class(self, name, world, expected=(), **variables):
        text = self.finish(self.start(world, "rank.py", name, **variables), expected)
        self.assertIn(" passed", text)


class OneHost(Ranks):
    def test_collectives(self):
        self.run_class("Collectives", 3)

    def test_a_world_of_one(self):
        text = self.finish(self.start(1, "rank.py", "Collectives", "test_lists", "test_means", "test_barriers", "test_objects"))
        self.assertIn(" passed", text)

    def test_messages(self):
        self.run_class("Messages", 3)

    def test_groups(self):
        self.run_class("Groups", 4)

    def test_arenas(self):
        self.run_class("Arenas", 2)

    def test_forking(self):
        self.run_class("Forking", 2)
        self.run_class("Forking", 2, COHORT_ALGORITHM="ring")  # by messages instead of shared memory

    def test_checked_by_torch(self):
        self.run_class("Checked", 2, TORCH_DISTRIBUTED_DEBUG="DETAIL")


class Broken(Ranks):
    modules = ["torch"]

    def test_failures(self):
        self.run_class("Failures", 2)

    def test_killed(self):
        self.run_class("Killed", 2, expected=[(1, -9)])

    def test_frozen(self):
        self.run_class("Frozen", 2, expected=[(1, -9)], COHORT_LIVENESS="1s")

    def test_a_liveness_that_is_none_is_named(self):
        [process] = self.start(1, "rank.py", "Frozen", COHORT_LIVENESS="soon")
        self.assertIn("COHORT_LIVENESS", process.communicate(timeout=LIMIT_S)[1])

    def test_who_does_not_come_is_named(self):
        processes = self.start(2, "rank.py", "Absent")
        text = processes[0].communicate(timeout=LIMIT_S)[1]
        processes[1].communicate(timeout=LIMIT_S)
        self.assertNotEqual(processes[0].returncode, 0)
        self.assertRegex(text, r"rank 1 has not come")


class Training(Ranks):
    modules = ["torch", "torch._dynamo", "torch.distributed.checkpoint", "torch.distributed.fsdp"]

    def test_examples(self):
        examples = HERE.parents[1] / "examples" / "pytorch"
        self.assertRegex(self.finish(self.start_anew(2, examples / "ddp.py")), r"2 ranks, last loss 0\.[0-4]")
        self.finish(self.start_anew(2, examples / "arena.py"))

    def losses(self, kind, backend, world=2):
        return json.loads(self.finish(self.start(world, "train.py", kind, backend)))

    def test_ddp_is_the_same_as_with_gloo(self):
        self.compare("ddp")

    def test_fsdp_is_the_same_as_with_gloo(self):
        self.compare("fsdp")

    def compare(self, kind):
        ours = self.losses(kind, "cohort")
        self.assertEqual(ours, self.losses(kind, "gloo"))
        self.assertLess(ours[-1], ours[0])

    def test_hooks_that_compress_gradients(self):
        """Four ranks: sums of more than two numbers are rounded differently by Gloo."""
        for hook in ("powerSGD_hook", "batched_powerSGD_hook"):
            ours = self.losses(hook, "cohort", 4)
            for own, other in zip(ours, self.losses(hook, "gloo", 4)):
                self.assertAlmostEqual(own, other, places=3)
            self.assertLess(ours[-1], ours[0])

    def test_hooks_make_calls_in_order(self):
        """The callbacks of several buckets make calls. Gloo hangs here, so two runs are compared."""
        losses = self.losses("powerSGD_hook, buckets", "cohort", 4)
        self.assertEqual(losses, self.losses("powerSGD_hook, buckets", "cohort", 4))
        self.assertLess(losses[-1], losses[0])

    def test_checkpoints(self):
        with tempfile.TemporaryDirectory() as folder:
            self.finish(self.start(2, "checkpoint.py", folder))


class LikeGloo(Ranks):
    """Programs that find with Cohort what they find with Gloo."""

    modules = ["torch", "torch.distributed._dist2"]

    def outcomes(self, program, backend):
        """The outcome of each of two ranks."""
        processes = self.start(2, "compared.py", program, backend)
        self.finish(processes)
        return [json.loads(process.communicate()[0]) for process in processes]

    def test_sequence_numbers(self):
        self.assertEqual(self.outcomes("numbers", "cohort"), self.outcomes("numbers", "gloo"))

    def test_entries_of_the_flight_recorder(self):
        ours, theirs = (json.dumps(self.outcomes("recorded", backend)) for backend in ("cohort", "gloo"))
        self.assertEqual(json.loads(ours), json.loads(theirs.replace("gloo:", "cohort:")))

    def test_groups_of_dist2(self):
        self.assertEqual(self.outcomes("by_dist2", "cohort"), self.outcomes("by_dist2", "gloo"))

    def test_mistakes(self):
        self.compare_exceptions("mistakes")

    def test_failures(self):
        self.compare_exceptions("failures")

    def compare_exceptions(self, program):
        """What `except` catches with Gloo it catches with Cohort."""
        for ours, theirs in zip(self.outcomes(program, "cohort"), self.outcomes(program, "gloo")):
            for case, kinds in (theirs or {}).items():
                if kinds and ours[case]:
                    self.assertIn(kinds[0], ours[case], case)


class SeveralHosts(Ranks):
    def run_on_hosts(self, **variables):
        if missing():
            self.skipTest(missing())
        with Cluster("a", "b") as hosts:
            spaces = [f"/run/netns/{hosts.space(name)}" for name in "aabb"]
            environments = [environment(rank, 4, hosts.address("a"), "29611") | variables for rank in range(4)]
            processes = [self.forking().start(HERE / "rank.py", ["Several"], environments[rank], spaces[rank]) for rank in range(3)]
            processes.append(subprocess.Popen(hosts.inside("b", PYTHON, HERE / "rank.py", "Several"), env=environments[3],
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            self.assertIn("test_kind passed", self.finish(processes))

    def test_by_tls(self):
        self.run_on_hosts()

    def test_by_ucx(self):
        self.run_on_hosts(COHORT_BACKEND="ucx", UCX_TLS="tcp", EXPECTED_KIND="hosts over ucx")


class Wheel(Ranks):
    def test_is_found_by_torch_without_an_import(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PYTHON, str(HERE.parents[1] / "plugins" / "c10d" / "build_wheel.py"), folder], check=True, capture_output=True,
                           env={**os.environ, "COHORT_BUILD": str(pathlib.Path(PACKAGES).parent)})
            [wheel] = pathlib.Path(folder).glob("*.whl")
            installed = pathlib.Path(folder) / "installed"
            subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", installed, wheel], check=True)
            text = self.finish(self.start_anew(2, "rank.py", "Collectives", "test_means", packages=str(installed)))
            self.assertIn("test_means passed", text)
            libraries = subprocess.run(["ldd", *installed.glob("cohort_c10d/_C*.so")], capture_output=True, text=True).stdout
            needed = {line.split()[0].split(".so")[0].split("/")[-1] for line in libraries.splitlines()}
            known = {"linux-vdso", "libtorch_python", "libtorch_cpu", "libc10", "libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64",
                     "libpthread", "libdl", "libgomp-98b21ff3", "libgomp", "librt"}
            self.assertIn("libtorch_python", needed, libraries)
            self.assertLessEqual(needed, known | {name for name in needed if name.startswith("libtorch") or name.startswith("libgomp")})


class Upstream(Ranks):
    """A few tests from torch's own wheel; tests/c10d/upstream.py runs all of them."""

    def test_selection(self):
        names = ["test_all_to_all_single_equal_split", "test_DistributedDataParallelCPU_grad_is_view", "test_send_recv_any_source_torch_profiler",
                 "test_monitored_barrier_gloo_subgroup", "test_sparse_all_reduce_sum"]
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        run = subprocess.run([PYTHON, str(HERE / "upstream.py"), "--as", "gloo", *names], capture_output=True, text=True, timeout=LIMIT_S,
                             env={**os.environ, "PYTHONPATH": PACKAGES, "TEMP_DIR": folder})
        self.assertEqual(run.returncode, 0, run.stdout[-3000:])
        self.assertRegex(run.stdout, r" [3-9] passed, 0 failed")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

"""Jobs on several hosts that lose ranks, or a whole host, and go on."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from cluster import SKIPPED, Cluster, missing

if missing():
    print(f"skipped: {missing()}")
    sys.exit(SKIPPED)

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
RANK = pathlib.Path(sys.argv.pop(1)).resolve()
LIMIT = 60  # seconds; only a broken program takes this long


class Survivors(unittest.TestCase):
    def setUp(self):
        self.hosts = Cluster("a", "b")
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)

    def words(self, shares, mode, *options):
        return self.hosts.inside("a", TOOL, "run", "--hosts", shares, "--start", self.hosts.start_way(), "--no-prefix", "--on-rank-loss",
                                 "tell", "--timeout", "50s", *options, RANK, mode)

    def run_job(self, shares, mode, *options):
        result = subprocess.run(self.words(shares, mode, *options), capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return sorted(line for line in result.stdout.splitlines() if not line.startswith("pid ")), result.stderr

    def test_ranks_are_lost_three_times_and_the_others_go_on(self):
        # The last ones of b first: at the end b is empty, and the others are on one host.
        for backend in ("tcp", "ucx"):
            lines, errors = self.run_job("a:3,b:3", "three", "--backend", backend)
            self.assertEqual(lines, [f"rank {rank} of 3 went on through 3 losses to generation 3" for rank in range(3)])
            self.assertEqual(errors.count("on b was killed by signal 9 (SIGKILL); the others went on without it"), 3, errors)

    def test_in_the_clear_and_with_more_ranks_left_on_the_other_host(self):
        lines, _ = self.run_job("a:2,b:3", "three", "--no-encryption")
        self.assertEqual(lines, [f"rank {rank} of 2 went on through 3 losses to generation 3" for rank in range(2)])

    def test_a_spare_on_another_host_takes_the_place_of_a_lost_worker(self):
        lines, _ = self.run_job("a:2,b:2", "spare", "--spares", "1")
        self.assertEqual(lines, ["member 0 is worker 0 of 3", "member 2 is worker 1 of 3", "member 3 is worker 2 of 3"])

    def test_a_stopped_rank_is_lost_and_killed(self):
        lines, errors = self.run_job("a:2,b:2", "frozen")
        self.assertEqual(lines, [f"rank {rank} of 3 went on" for rank in range(3)])
        self.assertIn("rank 3 on b was killed by signal 9 (SIGKILL)", errors)

    def test_a_rank_is_lost_while_the_next_generation_forms(self):
        lines, _ = self.run_job("a:2,b:2", "late")
        self.assertEqual(lines, [f"rank {rank} of 3 went on in generation 2" for rank in range(3)])

    def test_all_ranks_of_a_host_end_at_once(self):
        # Nobody on host b can say that its ranks have ended; the launcher does.
        lines, errors = self.run_job("a:2,b:2", "host")
        self.assertEqual(lines, ["rank 0 of 2 went on", "rank 1 of 2 went on"])
        self.assertEqual(errors.count("on b was killed"), 2, errors)

    def test_a_host_is_lost_while_the_next_generation_forms(self):
        lines, errors = self.run_job("a:3,b:1", "agent")
        self.assertEqual(lines, [f"rank {rank} of 3 went on in generation 2" for rank in range(3)])
        self.assertIn("rank 3 on b was not heard of again; the others went on without it", errors)

    def test_generations_follow_without_a_failure(self):
        lines, _ = self.run_job("a:2,b:2", "often")
        self.assertEqual(lines, [f"rank {rank} of 4 in generation 20" for rank in range(4)])

    def test_roles(self):
        result = subprocess.run(self.hosts.inside("a", TOOL, "run", "--hosts", "a:2,b:2", "--start", self.hosts.start_way(), "--servers", "1",
                                                  "--spares", "1", "sh", "-c", "echo $COHORT_ROLE"), capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] worker", "[1] worker", "[2] server", "[3] spare"], result.stderr)


class WithoutLauncher(unittest.TestCase):
    """Ranks that no launcher watches: the ranks of a host know which of them have ended."""

    def run_ranks(self, places, mode):
        """Runs a rank in each place, the name of its host, by each rendezvous; the last one is killed."""
        with Cluster("a", "b") as hosts:
            folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
            subprocess.run([TOOL, "key", folder / "key"], check=True, capture_output=True)
            for rendezvous in (f"file:{folder}/meet", f"rank0:{hosts.address('a')}:4711"):
                ranks = []
                for rank, host in enumerate(places):
                    environment = {**os.environ, "COHORT_RANK": str(rank), "COHORT_WORLD": str(len(places)),
                                   "COHORT_LOCAL_RANK": str(places[:rank].count(host)), "COHORT_LOCAL_WORLD": str(places.count(host)),
                                   "COHORT_RENDEZVOUS": rendezvous, "COHORT_KEY_FILE": str(folder / "key")}
                    ranks.append(subprocess.Popen(hosts.inside(host, RANK, mode), stdout=subprocess.PIPE, text=True, env=environment))
                outputs = [rank.communicate(timeout=LIMIT)[0] for rank in ranks]
                self.assertEqual([rank.returncode for rank in ranks], [0, 0, 0, -signal.SIGKILL], outputs)
                for rank in range(3):
                    self.assertIn(f"rank {rank} of 3 went on", outputs[rank])

    def test_by_a_directory_and_by_an_address(self):
        self.run_ranks("aabb", "one")

    def test_a_host_is_lost_while_the_next_generation_forms(self):
        # Nobody can say that rank 3 has ended: the others find that it does not come.
        self.run_ranks("aaab", "alone")


if __name__ == "__main__":
    unittest.main()

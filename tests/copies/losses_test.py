"""Ranks are killed at random moments of keeping copies; the others restore the state from the copies, to the bit."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hosts"))
from cluster import SKIPPED, Cluster, missing

TOOL, RANK = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
LIMIT = 60  # seconds; only a broken program takes this long
LINE = re.compile(r"rank (\d+) of (\d+) restored (\d+) times, (\d+) times an interrupted version was left out")


def seeds(few, many):
    return range(many if os.environ.get("COHORT_SOAK") == "1" else few)


class Losses(unittest.TestCase):
    def run_job(self, where, *words, around=()):
        result = subprocess.run([*around, TOOL, "run", *where, "--no-prefix", "--on-rank-loss", "tell", "--timeout", "50s", RANK,
                                 *[str(word) for word in words]], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 0, f"{words}: {result.stdout}{result.stderr}")
        found = [tuple(map(int, match)) for match in LINE.findall(result.stdout)]
        self.assertEqual(sorted(rank for rank, *_ in found), list(range(found[0][1])), result.stdout)
        return found


class OneHost(Losses):
    def test_ranks_are_killed_until_one_is_left(self):
        left_out = 0
        for seed in seeds(6, 300):
            found = self.run_job(["-n", "4"], "kill", seed, 1)
            self.assertEqual(len(found), 1)
            self.assertLessEqual(found[0][2], 3)  # a rank that is lost before the state is restored saves one time
            left_out += found[0][3]
        print(f"{left_out} interrupted versions were left out")

    def test_a_rank_freezes_and_never_wakes(self):
        for seed in seeds(2, 40):
            self.assertEqual(len(self.run_job(["-n", "3"], "freeze", seed, 2)), 2)


@unittest.skipIf(missing(), missing())
class TwoHosts(Losses):
    def setUp(self):
        self.hosts = Cluster("a", "b")
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)

    def on(self, shares, *words):
        return self.run_job(["--hosts", shares, "--start", self.hosts.start_way()], *words, around=self.hosts.inside("a"))

    def test_ranks_are_killed(self):
        for seed in seeds(3, 100):
            self.assertEqual(len(self.on("a:2,b:2", "kill", seed, 2)), 2)
        for seed in seeds(1, 50):
            self.assertEqual(len(self.on("a:3,b:1", "kill", seed, 3)), 3)

    def test_all_ranks_of_a_host_are_killed(self):
        for seed in seeds(2, 100):
            found = self.on("a:2,b:2", "host", seed, 0)
            self.assertEqual({size for _, size, *_ in found}, {2})


if __name__ == "__main__":
    unittest.main(verbosity=2)

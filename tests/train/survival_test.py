"""Ranks that train are killed; the others go on from copies in memory and end with the same bits as if nothing had happened."""

import pathlib
import re
import subprocess
import sys
import unittest

TOOL, RANK = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))
from cluster import SKIPPED, Cluster, missing

if "OnHosts" in sys.argv and missing():
    print(f"skipped: {missing()}")
    sys.exit(SKIPPED)
LIMIT = 120  # seconds; only a broken program takes this long
LINE = re.compile(r"generation (\d+) of (\d+) from step (\d+): (.+)")


class Survival(unittest.TestCase):
    STEPS_ON_THE_WAY = 0

    def command(self, ranks):
        return [TOOL, "run", "-n", str(ranks)]

    def run_job(self, ranks, *words):
        """Generation, number of ranks and step with which the last generation began, and the result."""
        result = subprocess.run([*self.command(ranks), "--threads", "1", "--no-prefix", "--on-rank-loss", "tell", "--timeout", "100s",
                                 RANK, *words], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        found = LINE.findall(result.stdout)
        self.assertEqual(len(found), 1, result.stdout + result.stderr)
        generation, size, step, end = found[0]
        return int(generation), int(size), int(step), end

    def check(self, mode, ranks, deaths, left, step):
        *_, expected = self.run_job(1, mode)
        generation, size, resumed, end = self.run_job(ranks, mode, *deaths)
        self.assertGreaterEqual(generation, 1)
        self.assertEqual(size, left)
        self.assertIn(resumed, range(step - self.STEPS_ON_THE_WAY, step + 1))
        self.assertEqual(end, expected)


class OfATrainer(Survival):
    def test_two_of_four_ranks_are_killed(self):
        self.check("trainer", 4, ["2:14", "3:14"], 2, 14)

    def test_one_of_two_ranks_is_killed_after_an_epoch(self):
        self.check("trainer", 2, ["0:16"], 1, 16)

    def test_ranks_are_killed_again(self):
        self.check("trainer", 4, ["1:9", "3:9", "0:26"], 1, 26)


class OfALoop(Survival):
    def test_one_of_three_ranks_is_killed(self):
        self.check("loop", 3, ["1:17"], 2, 17)

    def test_ranks_are_killed_until_one_is_left(self):
        self.check("loop", 4, ["0:3", "2:4", "1:30"], 1, 30)


class OnHosts(Survival):
    """Copies are sent to the other host while the next step runs: when a host dies, those of its last step may be on the way."""

    STEPS_ON_THE_WAY = 1

    def setUp(self):
        self.hosts = self.enterContext(Cluster("a", "b"))

    def command(self, ranks):
        """Half of the ranks on each host; one rank needs no hosts."""
        words = ["--hosts", f"a:{ranks // 2},b:{ranks // 2}", "--start", self.hosts.start_way()] if ranks > 1 else ["-n", "1"]
        return self.hosts.inside("a", TOOL, "run", *words)

    def test_a_trainer_loses_a_host(self):
        self.check("trainer", 4, ["2:14", "3:14"], 2, 14)

    def test_a_loop_loses_a_host(self):
        self.check("loop", 4, ["2:9", "3:9"], 2, 9)

    def test_a_trainer_loses_a_rank_of_each_host(self):
        self.check("trainer", 4, ["1:11", "3:11"], 2, 11)


if __name__ == "__main__":
    unittest.main(verbosity=2)

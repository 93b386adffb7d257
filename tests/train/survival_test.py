"""Ranks that train are killed; the others go on from copies in memory and end with the same bits as if nothing had happened."""

import pathlib
import re
import subprocess
import sys
import unittest

TOOL, RANK = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
LIMIT = 120  # seconds; only a broken program takes this long
LINE = re.compile(r"generation (\d+) of (\d+) from step (\d+): (.+)")


class Survival(unittest.TestCase):
    def run_job(self, ranks, *words):
        """Generation, number of ranks and step with which the last generation began, and the result."""
        result = subprocess.run([TOOL, "run", "-n", str(ranks), "--threads", "1", "--no-prefix", "--on-rank-loss", "tell", "--timeout", "100s",
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
        self.assertEqual((size, resumed), (left, step))
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


if __name__ == "__main__":
    unittest.main(verbosity=2)

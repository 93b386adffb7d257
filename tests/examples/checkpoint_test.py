"""The example of a loop that goes on: interrupted runs end with the bits of one that was not, and a killed one goes on."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL, PROGRAM = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
LIMIT = 100


class GoesOn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def words(self, name, steps, ranks):
        return [TOOL, "run", "-n", str(ranks), "--threads", "1", PROGRAM, str(self.folder / name), str(steps)]

    def run_to(self, name, steps, ranks=2):
        done = subprocess.run(self.words(name, steps, ranks), text=True, capture_output=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(r"from step (\d+) to \d+, sum of weights (\S+), loss (\S+)", done.stdout)
        return int(found[1]), found[2], found[3]

    def test_with_the_same_bits(self):
        _, *expected = self.run_to("whole", 90)
        self.assertEqual(self.run_to("parts", 33)[0], 0)
        first, *found = self.run_to("parts", 90)
        self.assertEqual((first, found), (33, expected))

    def test_on_other_ranks(self):
        self.run_to("parts", 20)
        self.assertEqual(self.run_to("parts", 40, ranks=3)[0], 20)
        self.assertEqual(self.run_to("parts", 50, ranks=1)[0], 40)

    def test_after_a_kill(self):
        _, *expected = self.run_to("whole", 4000)
        job = subprocess.Popen(self.words("killed", 4000, 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + LIMIT
        while not list(self.folder.glob("killed/step-*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(job.pid, signal.SIGKILL)  # its ranks end with it
        job.wait(timeout=LIMIT)
        first, *found = self.run_to("killed", 4000)
        self.assertGreater(first, 0)
        self.assertEqual(found, expected)


unittest.main()

"""Jobs on several hosts with the backend ucx, chosen by command line, job file and environment."""

import ctypes.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from hosts_test import LIMIT, RANK, SKIPPED, TOOL, OnHosts

if not ctypes.util.find_library("ucp"):
    print("skipped: UCX is not installed (package libucx0)")
    sys.exit(SKIPPED)

WARNING = "warning: between hosts everything is sent in the clear (the backend ucx encrypts nothing)"
UCX = ["--backend", "ucx"]


class ByUcx(OnHosts):
    def expect_sum(self, result, ranks):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count("rounds are right, by hosts over ucx"), ranks, result.stdout)
        self.assertIn(WARNING, result.stderr)

    def start_two(self, *words):
        """Starts one rank on each host, with the variables of a launcher."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run([TOOL, "key", folder / "key"], check=True, capture_output=True)
        ranks = []
        for rank, host in enumerate("ab"):
            environment = {**os.environ, "COHORT_RANK": str(rank), "COHORT_WORLD": "2", "COHORT_LOCAL_RANK": "0",
                           "COHORT_LOCAL_WORLD": "1", "COHORT_RENDEZVOUS": f"file:{folder}/meet",
                           "COHORT_KEY_FILE": str(folder / "key"), "COHORT_BACKEND": "ucx"}
            ranks.append(subprocess.Popen(self.hosts.inside(host, RANK, *words), stdout=subprocess.PIPE, text=True,
                                          env=environment))
        return ranks

    def wait_until_going(self, ranks):
        for rank in ranks:
            while "going" not in rank.stdout.readline():
                self.assertIsNone(rank.poll())

    def test_chosen_on_the_command_line(self):
        self.expect_sum(self.run_job("a:2,b:2", "sum", 100001, 5, options=UCX), 4)

    def test_chosen_by_a_job_with_an_algorithm_and_an_interface(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as job:
            job.write('[communication]\nbackend = "ucx"\nalgorithm = "ring"\n')
            job.flush()
            self.expect_sum(self.run_job("a:1,b:1", "sum", 1000, 2, options=["--job", job.name, "--interface", "eth0"]), 2)

    def test_a_killed_rank_ends_all_and_is_named(self):
        # Either host may report first: the other ranks notice the loss within milliseconds and end as well.
        result = self.run_job("a:2,b:2", "die", 3, 1000, options=UCX)
        self.assertIn(result.returncode, (128 + signal.SIGKILL, 3), result.stdout + result.stderr)
        self.assertRegex(result.stderr, r"rank 3 (on b failed first: it )?was killed by signal 9")

    def test_the_others_say_who_is_gone(self):
        other, killed = self.start_two("sum", 1000, 100000, 1)
        self.wait_until_going([other, killed])
        began = time.monotonic()
        killed.kill()
        text = other.stdout.readline()
        print(f"seen {1000 * (time.monotonic() - began):.1f} ms after the kill")
        self.assertRegex(text, r"peer_lost: .*rank 1 is lost")
        for rank in (other, killed):
            rank.communicate(timeout=LIMIT)

    def test_a_long_cut_is_named_on_both_sides(self):
        ranks = self.start_two("sum", 300000, 100000, 10)
        self.wait_until_going(ranks)
        self.hosts.cut("b")
        for rank in ranks:
            self.assertRegex(rank.communicate(timeout=LIMIT)[0], r"peer_lost: .*(lost|left)")


if __name__ == "__main__":
    unittest.main()

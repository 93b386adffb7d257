"""Jobs on one host that lose ranks and go on, and the roles of ranks."""

import pathlib
import signal
import subprocess
import sys
import unittest

TOOL, RANK = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
LIMIT = 60  # seconds; only a broken program takes this long


def run(*words):
    return subprocess.run([TOOL, "run", "--no-prefix", "--timeout", "50s", *words], capture_output=True, text=True, timeout=LIMIT)


class Survivors(unittest.TestCase):
    def lines(self, result):
        return sorted(line for line in result.stdout.splitlines() if not line.startswith("pid "))

    def test_ranks_are_lost_three_times_and_the_others_go_on(self):
        for ranks in (4, 6):
            result = run("-n", str(ranks), "--on-rank-loss", "tell", RANK, "three")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            left = ranks - 3
            self.assertEqual(self.lines(result), [f"rank {rank} of {left} went on through 3 losses to generation 3" for rank in range(left)])
            self.assertEqual(result.stderr.count("was killed by signal 9 (SIGKILL); the others went on without it"), 3)

    def test_by_messages_instead_of_shared_memory(self):
        result = run("-n", "5", "--on-rank-loss", "tell", "--hosts", "localhost:5", "--start", "env host={host}", "--algorithm", "ring", RANK, "three")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count("went on through 3 losses to generation 3"), 2, result.stdout)

    def test_a_spare_takes_the_place_of_a_lost_worker(self):
        result = run("-n", "3", "--spares", "1", "--on-rank-loss", "tell", RANK, "spare")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.lines(result), ["member 0 is worker 0 of 3", "member 2 is worker 1 of 3", "member 3 is worker 2 of 3"])

    def test_a_stopped_rank_is_lost_and_killed(self):
        result = run("-n", "3", "--on-rank-loss", "tell", RANK, "frozen")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.lines(result), ["rank 0 of 2 went on", "rank 1 of 2 went on"])
        self.assertIn("rank 2 was killed by signal 9 (SIGKILL)", result.stderr)

    def test_a_rank_is_lost_while_the_next_generation_forms(self):
        result = run("-n", "4", "--on-rank-loss", "tell", RANK, "late")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.lines(result), [f"rank {rank} of 3 went on in generation 2" for rank in range(3)])

    def test_a_rank_is_stopped_while_the_next_generation_forms(self):
        result = run("-n", "3", "--on-rank-loss", "tell", RANK, "still")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.lines(result), [f"rank {rank} of 2 went on in generation 2" for rank in range(2)])

    def test_generations_follow_without_a_failure(self):
        result = run("-n", "3", RANK, "often")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.lines(result), [f"rank {rank} of 3 in generation 20" for rank in range(3)])


class Policy(unittest.TestCase):
    def test_by_default_the_first_failure_ends_all(self):
        result = run("-n", "3", RANK, "three")
        self.assertEqual(result.returncode, 128 + signal.SIGKILL, result.stdout)
        self.assertIn("rank 2 failed first", result.stderr)

    def test_exit_codes_of_ranks_that_go_on(self):
        for end, expected in (("kill -9 $$", 0), ("exit 7", 7)):
            with self.subTest(end=end):
                result = run("-n", "2", "--on-rank-loss", "tell", "sh", "-c", f"[ $COHORT_RANK = 1 ] || {{ {end}; }}")
                self.assertEqual(result.returncode, expected, result.stderr)
                self.assertIn("rank 0", result.stderr)


    def test_a_rank_that_exits_with_an_error_is_blamed_before_lost_ranks(self):
        ends = "[ $COHORT_RANK = 1 ] && kill -9 $$; exit 2"
        for hosts in (("-n", "2"), ("--hosts", "a:1,b:1", "--start", "env host={host}")):
            with self.subTest(hosts=hosts):
                result = run(*hosts, "--on-rank-loss", "tell", "sh", "-c", ends)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, "rank 0 (on a )?failed first: it exited with 2")


class Roles(unittest.TestCase):
    def test_each_rank_knows_its_role(self):
        result = run("-n", "3", "--servers", "1", "--spares", "1", "sh", "-c", 'echo "$COHORT_RANK $COHORT_WORLD $COHORT_ROLE"')
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(result.stdout.splitlines()), ["0 5 worker", "1 5 worker", "2 5 worker", "3 5 server", "4 5 spare"])

    def test_without_options_all_are_workers(self):
        result = run("-n", "2", "sh", "-c", 'echo "$COHORT_ROLE $COHORT_SERVERS $COHORT_SPARES"')
        self.assertEqual(result.stdout, "worker 0 0\n" * 2)

    def test_hosts_without_a_place_for_workers(self):
        result = run("--hosts", "a:1,b:1", "--servers", "1", "--spares", "1", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("1 servers and 1 spares leave no worker of the 2 ranks on --hosts a:1,b:1", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

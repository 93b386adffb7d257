"""One program under every installed launcher, and without a launcher."""

import os
import shutil
import subprocess
import sys
import time
import unittest

TOOL, EXAMPLE, FORKING = sys.argv[1:4]
CLEAN = {key: value for key, value in os.environ.items()
         if not key.startswith(("COHORT_", "OMPI_", "PMI", "SLURM_")) and key not in ("RANK", "WORLD_SIZE")}


def run(argv, environment=None):
    return subprocess.run(argv, env=environment or CLEAN, capture_output=True, text=True, timeout=60)


class Launchers(unittest.TestCase):
    def test_alone_it_is_a_world_of_one(self):
        result = run([EXAMPLE])
        self.assertEqual((result.returncode, result.stdout), (0, "1 ranks, sum 1\n"), result.stderr)

    def test_cohort_run(self):
        for ranks, total in ((1, 1), (2, 3), (5, 15)):
            result = run([TOOL, "run", "-n", str(ranks), "--no-prefix", EXAMPLE])
            self.assertEqual((result.returncode, result.stdout), (0, f"{ranks} ranks, sum {total}\n"), result.stderr)

    def test_a_forked_child_that_ends_normally_does_not_disturb_the_job(self):
        for way in ("return", "exit"):
            for options in ([], ["--algorithm", "ring"]):  # by shared memory, and by messages
                result = run([TOOL, "run", "-n", "2", "--no-prefix", "--timeout", "50s", *options, FORKING, way])
                self.assertEqual((result.returncode, result.stdout), (0, "child 0, sum 8\n"), (way, options, result.stderr))

    def test_torchrun_variables(self):
        ranks = []
        for rank in range(3):
            variables = {"RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "3",
                         "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": f"test-{os.getpid()}"}
            ranks.append(subprocess.Popen([EXAMPLE], env=CLEAN | variables, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True))
        outputs = [rank.communicate(timeout=60) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 0, 0], outputs)
        self.assertEqual(outputs[0][0], "3 ranks, sum 6\n")

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed: dev/setup bench")
    def test_mpirun(self):
        result = run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", EXAMPLE])
        self.assertEqual((result.returncode, result.stdout), (0, "3 ranks, sum 6\n"), result.stderr)

    def test_ranks_on_several_hosts_want_a_key(self):
        variables = {"RANK": "0", "WORLD_SIZE": "4", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2",
                     "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
        result = run([EXAMPLE], CLEAN | variables)
        self.assertEqual(result.returncode, 1)
        self.assertIn("without a key", result.stderr)
        self.assertIn("COHORT_KEY_FILE", result.stderr)

    def test_nowhere_to_meet(self):
        result = run([EXAMPLE], CLEAN | {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0",
                                         "MPI_LOCALNRANKS": "2"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("COHORT_RENDEZVOUS", result.stderr)

    def test_a_backend_that_there_is_not_is_named_with_those_that_there_are(self):
        result = run([EXAMPLE], CLEAN | {"COHORT_BACKEND": "steam"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("COHORT_BACKEND='steam', which is no backend. Set it to one of auto, tcp, ucx, mpi", result.stderr)

    def test_the_backend_mpi_wants_a_launcher_of_mpi(self):
        result = run([EXAMPLE], CLEAN | {"COHORT_BACKEND": "mpi"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("the backend mpi wants ranks that an MPI has started, and these were started by no launcher", result.stderr)

    def test_a_rank_that_dies_early_ends_the_others(self):
        begin = time.monotonic()
        result = run([TOOL, "run", "-n", "2", "sh", "-c", f'[ $COHORT_RANK = 1 ] && exit 9; exec "{EXAMPLE}"'])
        self.assertEqual(result.returncode, 9, result.stderr)
        self.assertIn("rank 1", result.stderr)
        self.assertLess(time.monotonic() - begin, 50)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

"""Runs programs that do not mention MPI as ranks of one MPI, chosen by COHORT_BACKEND=mpi.

Usage: backend_test.py MPI BUILD_DIRECTORY. Exits with 77 and names the package to install if that MPI is missing."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
LIMIT = 60  # seconds; only a broken program meets it
ROOT = pathlib.Path(__file__).resolve().parents[2]
MPI, BUILD = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
OPEN_MPI_5 = str(ROOT / ".venv-openmpi5/bin/mpirun")
START = {"openmpi": ["mpirun.openmpi"], "openmpi5": [OPEN_MPI_5], "ulfm": [OPEN_MPI_5, "--with-ft", "ulfm"],
         "mpich": ["mpirun.mpich"]}[MPI]
SHIM = BUILD / f"lib/libcohort-mpi-{'mpich' if MPI == 'mpich' else 'openmpi'}.so"
GOES_ON = MPI == "ulfm"

if not shutil.which(START[0]) or not SHIM.exists():
    print(f"skipped: there is no {START[0]}, or no {SHIM.name}: run dev/setup test and build again")
    sys.exit(SKIPPED)

# Containers and virtual machines often run as root, with more ranks than cores.
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("COHORT_", "OMPI_", "PMI", "SLURM_"))}
ENVIRONMENT |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "COHORT_BACKEND": "mpi"}
EXAMPLE = BUILD / "bin/examples/example_ranks"
RANK = BUILD / "bin/mpi_backend_rank"


def mpirun(ranks, *words, **variables):
    # Files of an earlier mpirun disturb a later one with the same process id.
    with tempfile.TemporaryDirectory() as session:
        result = subprocess.run([*START, "-np", str(ranks), *map(str, words)], env=ENVIRONMENT | {"TMPDIR": session} | variables,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT)
    return result.returncode, result.stdout


class Backend(unittest.TestCase):
    def test_ranks_sum(self):
        for ranks in (2, 4):
            code, said = mpirun(ranks, RANK, "sum")
            self.assertEqual(code, 0, said)
            self.assertEqual(said.count(f"{ranks} ranks, the sum is right"), 2, said)

    @unittest.skipUnless(MPI == "openmpi", "the same by all")
    def test_the_example_sums(self):
        code, said = mpirun(2, EXAMPLE)
        self.assertEqual(code, 0, said)
        self.assertIn("2 ranks, sum 3\n", said)

    @unittest.skipUnless(MPI == "openmpi", "the same by all")
    def test_a_libmpi_that_is_not_there_is_named(self):
        code, said = mpirun(1, RANK, "sum", COHORT_MPI_LIBRARY="/nowhere/libmpi.so")
        self.assertEqual(code, 1, said)
        self.assertIn("cannot load '/nowhere/libmpi.so'", said)


class LostRank(unittest.TestCase):
    @unittest.skipIf(GOES_ON, "it goes on")
    def test_a_killed_rank_ends_the_job(self):
        code, said = mpirun(4, RANK, "die")
        self.assertEqual(code, 9 if MPI == "mpich" else 137, said)
        self.assertIn("signal 9", " ".join(said.split()))

    @unittest.skipIf(GOES_ON, "it goes on")
    def test_a_late_rank_ends_the_job_with_the_cause(self):
        code, said = mpirun(2, RANK, "late")
        self.assertEqual(code, 1, said)
        self.assertIn("call 2 of group 'world' (generation 0): rank 1 has not arrived", said)

    @unittest.skipIf(GOES_ON, "it goes on")
    def test_a_rank_that_fails_ends_the_job(self):
        code, said = mpirun(2, RANK, "fail")
        self.assertIn(code, (3, 1), said)  # that of the rank, or, if it is slow to end, that of those who missed it

    @unittest.skipUnless(GOES_ON, "it ends with a lost rank")
    def test_the_others_go_on_without_it(self):
        _, said = mpirun(4, RANK, "go_on")
        for rank in range(3):
            self.assertIn(f"rank {rank} of 3 went on", said)
        self.assertIn("rank 1 has ended", said)

    @unittest.skipUnless(GOES_ON, "it ends with a lost rank")
    def test_a_rank_is_killed_while_the_next_generation_forms(self):
        for after_us in (0, 200, 1000, 3000, 10000):
            with self.subTest(after_us=after_us):
                _, said = mpirun(4, RANK, "form", after_us)
                for rank in range(3):
                    self.assertIn(f"rank {rank} of 3 went on", said)

    @unittest.skipUnless(GOES_ON, "it ends with a lost rank")
    def test_a_rank_that_comes_late_is_waited_for_again(self):
        code, said = mpirun(3, RANK, "absent")
        self.assertEqual(code, 0, said)
        self.assertIn("rank 0 waits in vain", said)
        for rank in range(3):
            self.assertIn(f"rank {rank} of 3 went on", said)

    @unittest.skipUnless(GOES_ON, "it ends with a lost rank")
    def test_those_that_do_not_go_on_say_who_is_gone(self):
        code, said = mpirun(2, RANK, "die")
        self.assertNotEqual(code, 0, said)
        self.assertIn("rank 1 has ended", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)

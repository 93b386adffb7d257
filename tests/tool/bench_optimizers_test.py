"""`cohort bench optimizers`: the fields of its output, its errors, and what torch does not have."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
QUICK = ("--elements", "1031", "--rounds", "2", "--steps", "3")
LIMIT = 200  # seconds; only a broken tool reaches it
PYTHON = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python3"
TORCH_KEYS = ("torch_fused_ms", "torch_unfused_ms", "ratio_fused", "ratio_unfused")


def bench(*arguments, **more):
    return subprocess.run([TOOL, "bench", "optimizers", *arguments], capture_output=True, text=True, timeout=LIMIT, **more)


def rows(*arguments):
    result = bench("--json", *QUICK, *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["rows"]


class Report(unittest.TestCase):
    def test_every_optimizer_has_a_row(self):
        explained = subprocess.run([TOOL, "config", "explain", "optimizer.name"], capture_output=True, text=True, timeout=LIMIT).stdout
        for row in rows():
            self.assertIn(row["name"], explained)
            self.assertEqual([row[key] for key in TORCH_KEYS], [None] * 4)
            self.assertGreater(row["ours_ms"], 0)
            self.assertGreater(row["gb_s"], 0)
            self.assertAlmostEqual(row["bandwidth_share"], row["memory_ms"] / row["ours_ms"], delta=0.01 * row["bandwidth_share"])

    def test_bytes_are_those_of_gradients_parameters_and_moments(self):
        for row, arrays in zip(rows("--optimizer", "sgd,adam,rmsprop"), (5, 7, 5)):
            self.assertAlmostEqual(row["gb_s"], arrays * 4 * 1031 / (row["ours_ms"] * 1e6), delta=0.01 * row["gb_s"])

    def test_a_table_for_people_and_nothing_left(self):
        before = set(os.listdir("/dev/shm"))
        result = bench(*QUICK, "--optimizer", "adamw")
        self.assertEqual(result.returncode, 0, result.stderr)
        header, row = result.stdout.splitlines()
        self.assertEqual(header.split()[:3], ["optimizer", "ours", "GB/s"])
        self.assertEqual(row.split()[0], "adamw")
        self.assertEqual([name for name in set(os.listdir("/dev/shm")) - before if name.startswith("cohort-bench-")], [])

    def test_torch_takes_part_with_the_forms_that_it_has(self):
        if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
            self.skipTest("Python cannot import torch (dev/setup bench)")
        found = {row["name"]: row for row in rows("--against", "torch", "--python", PYTHON, "--optimizer", "adam,rmsprop,lion")}
        self.assertEqual([found["lion"][key] for key in TORCH_KEYS], [None] * 4)
        self.assertEqual([found["rmsprop"][key] is None for key in TORCH_KEYS], [True, False, True, False])
        adam = found["adam"]
        for form in ("fused", "unfused"):
            ratio = adam[f"torch_{form}_ms"] / adam["ours_ms"]
            self.assertAlmostEqual(adam[f"ratio_{form}"], ratio, delta=0.01 * ratio)


class Mistakes(unittest.TestCase):
    def test_are_named_with_what_there_is(self):
        for arguments, words in ((("--optimizer", "adm"), "Did you mean adam?"),
                                 (("--against", "jax"), "torch"),
                                 (("--rounds", "0"), "at least one round"),
                                 (("--steps", "0"), "between 1 and"),
                                 (("--elements", "0"), "between 1 and"),
                                 (("--limit", "fast"), "--limit")):
            result = bench(*arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertIn(words, result.stderr)

    def test_a_peer_that_cannot_start_says_what_to_do(self):
        result = bench(*QUICK, "--optimizer", "sgd", "--against", "torch", "--python", "/nonexistent/python3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("dev/setup bench", result.stderr)

    def test_a_peer_that_dies_is_named_with_its_last_words(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python"
            python.write_text("#!/bin/sh\necho 'no more memory' >&2\nexit 3\n")
            python.chmod(0o755)
            result = bench(*QUICK, "--optimizer", "sgd", "--against", "torch", "--python", python)
            self.assertEqual(result.returncode, 1)
            self.assertIn("a process of 'torch_fused'", result.stderr)
            self.assertIn("no more memory", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""`cohort bench checkpoint`: the fields of its output, the table, its errors, and that it leaves no files."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
QUICK = ("--size", "100kB", "--rounds", "2")
LIMIT = 200  # seconds; only a broken tool reaches it
PYTHON = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python3"
PLAIN = {"save": "dd_s", "stall": "copy_s", "load": "read_s"}


def bench(*arguments, **more):
    return subprocess.run([TOOL, "bench", "checkpoint", *arguments], capture_output=True, text=True, timeout=LIMIT, **more)


class Report(unittest.TestCase):
    def rows(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            result = bench("--json", *QUICK, "--directory", folder, *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(os.listdir(folder), [])
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([row["what"] for row in rows], ["save", "stall", "load"])
        return rows

    def check(self, row, ranks, size):
        self.assertEqual((row["ranks"], row["bytes"], row["samples"]), (ranks, size, 2))
        for key in PLAIN.values():
            self.assertEqual(row[key] is None, key != PLAIN[row["what"]], row)
        above, below = row["ratio_is"].split(" / ")
        self.assertEqual({above, below}, {"ours_s", PLAIN[row["what"]]})
        self.assertEqual(above == "ours_s", row["what"] != "save")
        self.assertAlmostEqual(row["ratio"], row[above] / row[below], delta=0.01 * row["ratio"])

    def test_each_row_has_its_plain_peer_and_says_what_the_ratio_is(self):
        for ranks, size in ((1, 99_600), (2, 98_400), (3, 97_200)):
            for row in self.rows("-n", str(ranks)):
                self.check(row, ranks, size)
                self.assertIsNone(row["dcp_s"])
                self.assertIsNone(row["dcp_by_ours"])

    def test_torch_takes_part_where_it_can_be_imported(self):
        if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
            self.skipTest("Python cannot import torch (dev/setup bench)")
        save, stall, load = self.rows("--against", "torch-dcp", "--python", PYTHON)
        self.assertIsNone(stall["dcp_s"])
        for row in (save, load):
            self.check(row, 2, 98_400)
            self.assertAlmostEqual(row["dcp_by_ours"], row["dcp_s"] / row["ours_s"], delta=0.01 * row["dcp_by_ours"])

    def test_the_table_is_for_people(self):
        with tempfile.TemporaryDirectory() as folder:
            result = bench(*QUICK, env={**os.environ, "TMPDIR": folder})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(os.listdir(folder), [])
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0].split()[:3], ["work", "ours", "plain"])
        self.assertEqual([line.split()[0] for line in lines[1:]], ["save", "stall", "load"])
        self.assertIn("write(2) and fsync(2)", lines[1])


class Mistakes(unittest.TestCase):
    def test_are_named(self):
        for arguments, words in ((("--against", "torch-dpc"), "Did you mean torch-dcp?"), (("--size", "much"), "--size"),
                                 (("--limit", "fast"), "--limit"), (("--rounds", "0"), "--rounds"), (("-n", "0"), "--ranks")):
            result = bench(*arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertIn(words, result.stderr)

    def test_a_folder_or_a_python_that_is_not_there_is_named(self):
        result = bench(*QUICK, "--directory", "/nonexistent/folder")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/nonexistent/folder", result.stderr)
        result = bench(*QUICK, "--against", "torch-dcp", "--python", "/nonexistent/python3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("dev/setup bench", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""`cohort bench step`: the fields of its output, its errors, and a rank that dies."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
QUICK = ("--models", "tiny", "--rounds", "2", "--steps", "3")
LIMIT = 200  # seconds; only a broken tool reaches it
PYTHON = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python3"
KEYS = ("ours_ms", "ours_alone_ms", "ours_apart_ms", "torch_alone_ms", "torch_ddp_ms")


def bench(*arguments, **more):
    return subprocess.run([TOOL, "bench", "step", *arguments], capture_output=True, text=True, timeout=LIMIT, **more)


class Report(unittest.TestCase):
    def row(self, *arguments):
        result = bench("--json", *QUICK, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        (row,) = json.loads(result.stdout)["rows"]
        return row

    def check_ratio(self, row, name, above, below):
        expected = row[above] / row[below]
        self.assertAlmostEqual(row["ratios"][name], expected, delta=0.01 * expected)

    def test_json_has_a_row_per_model_and_batch(self):
        row = self.row()
        self.assertEqual((row["model"], row["batch"], row["ranks"]), ("tiny", 5, 2))
        self.assertEqual([row[key] is None for key in KEYS], [False, False, False, True, True])
        self.assertGreater(row["ours_ms"], 0)
        self.assertEqual(row["samples"], {"ours": 6, "ours_alone": 6, "ours_apart": 6})
        self.assertEqual(list(row["ratios"]), ["ours_by_ours_alone", "ours_by_ours_apart"])
        self.check_ratio(row, "ours_by_ours_alone", "ours_ms", "ours_alone_ms")
        self.assertGreater(row["ours_rss"]["peak_bytes"], 1 << 20)
        self.assertGreater(row["ours_rss"]["pss_bytes"], 1 << 20)

    def test_other_ways_stand_beside_the_trainer(self):
        ways = ["data_parallel", "trainer_without_update", "data_parallel_without_update"]
        row = self.row("--ways", ",".join(ways), "--batch", "7", "-n", "3")
        self.assertEqual((row["batch"], row["ranks"]), (7, 3))
        self.assertEqual([row[key] for key in KEYS], [None] * 5)
        self.assertEqual(sorted(row["samples"]), sorted(ways))
        self.check_ratio(row, "data_parallel_by_trainer_without_update", "data_parallel_ms", "trainer_without_update_ms")
        self.check_ratio(row, "data_parallel_without_update_by_trainer_without_update", "data_parallel_without_update_ms",
                         "trainer_without_update_ms")

    def test_torch_takes_part_where_it_can_be_imported(self):
        if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
            self.skipTest("Python cannot import torch (dev/setup bench)")
        row = self.row("--against", "torch-ddp", "--starts", "1", "--python", PYTHON)
        for key in KEYS:
            self.assertGreater(row[key], 0)
        self.check_ratio(row, "ours_by_torch_alone", "ours_ms", "torch_alone_ms")
        self.check_ratio(row, "torch_ddp_by_ours", "torch_ddp_ms", "ours_ms")
        self.assertGreater(row["ddp_rss"]["peak_bytes"], 1 << 20)
        self.assertGreater(row["first_step_ms"]["ours"], row["ours_ms"])
        self.assertGreater(row["first_step_ms"]["torch"], row["torch_ddp_ms"])
        self.assertIn("our_first_step_by_torch", row["ratios"])
        alone = self.row("--against", "torch", "--python", PYTHON)
        self.assertEqual([alone[key] is None for key in KEYS], [False, False, False, False, True])
        self.assertNotIn("first_step_ms", alone)

    def test_the_table_is_for_people_the_plot_has_the_same_times_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as pictures:
            picture = pathlib.Path(pictures) / "steps.svg"
            result = bench(*QUICK, "--plot", picture, env={**os.environ, "TMPDIR": folder})
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = result.stdout.splitlines()
            self.assertEqual(lines[0].split()[:4], ["model", "batch", "ours", "ours_alone"])
            self.assertEqual(lines[1].split()[:2], ["tiny", "5"])
            self.assertEqual(os.listdir(folder), [])
            self.assertEqual(os.listdir(pictures), ["steps.svg"])
            root = xml.etree.ElementTree.parse(picture).getroot()
            self.assertEqual(len(root.findall(".//{*}rect[@class='bar']")), 3)
            texts = [text.text for text in root.findall(".//{*}text")]
            self.assertIn("tiny, batch 5 per rank, 2 ranks", texts)
            for contender in ("ours", "ours_alone", "ours_apart"):
                time_shown = texts[texts.index(contender) + 1]
                self.assertRegex(time_shown, r"^[\d.]+ [mµn]?s$")
                self.assertIn(time_shown, lines[1])

    def test_an_interrupt_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            job = subprocess.Popen([TOOL, "bench", "step", "--models", "tiny", "--rounds", "1000000"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": folder})
            deadline = time.monotonic() + 60
            while not os.listdir(folder) and time.monotonic() < deadline:
                time.sleep(0.01)
            job.send_signal(signal.SIGINT)
            self.assertEqual(job.wait(60), 128 + signal.SIGINT)
            job.stderr.close()
            self.assertEqual(os.listdir(folder), [])


class Mistakes(unittest.TestCase):
    def test_are_named_with_what_there_is(self):
        for arguments, words in ((("--models", "mpl"), "Did you mean mlp?"),
                                 (("--ways", "trainers"), "Did you mean trainer?"),
                                 (("--against", "gloo"), "torch, torch-ddp"),
                                 (("--rounds", "0"), "at least one round"),
                                 (("--steps", "0"), "between 1 and"),
                                 (("--batch", "0"), "at least one sample"),
                                 (("--starts", "-1"), "cannot be negative"),
                                 (("-n", "0"), "between 1 and"),
                                 (("--limit", "fast"), "--limit")):
            result = bench(*arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertIn(words, result.stderr)

    def test_a_missing_program_says_what_to_do(self):
        result = bench(*QUICK, env={**os.environ, "COHORT_TRAINER": "/nonexistent/trainer"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("COHORT_TRAINER", result.stderr)
        result = bench(*QUICK, "--against", "torch", "--python", "/nonexistent/python3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("dev/setup bench", result.stderr)


class Trouble(unittest.TestCase):
    def test_a_rank_that_dies_is_named_with_its_last_words(self):
        with tempfile.TemporaryDirectory() as folder:
            trainer = pathlib.Path(folder) / "trainer"
            trainer.write_text("#!/bin/sh\necho 'no more memory' >&2\nexit 3\n")
            trainer.chmod(0o755)
            result = bench(*QUICK, env={**os.environ, "COHORT_TRAINER": str(trainer)})
            self.assertEqual(result.returncode, 1)
            self.assertIn("a process of 'ours'", result.stderr)
            self.assertIn("no more memory", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The jobs in examples/, and what they promise: that they learn, and the same bits on any number of ranks."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL, TRAINER, EXAMPLES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
LIMIT = 120  # seconds; only a broken trainer meets it


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.examples = self.folder / "examples"
        shutil.copytree(EXAMPLES, self.examples, ignore=shutil.ignore_patterns("*.cpp"))

    def run_tool(self, *words, cwd=None):
        result = subprocess.run([TOOL, *words], cwd=cwd or self.folder, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def train(self, name, ranks, *settings, cwd=None):
        words = [word for setting in settings for word in ("--set", setting)]
        job = str(self.examples / name)
        return json.loads(self.run_tool("train", job, "-n", str(ranks), "--threads", "1", "--json", *words, cwd=cwd))

    def digits(self, rows):
        """Rows that look like those of dev/fetch-data digits: digit d has light in column d alone."""
        lines = [",".join([f"p{i}" for i in range(64)] + ["digit"])]
        for row in range(rows):
            digit = row % 10
            lines.append(",".join([str(16 if i == digit else 0) for i in range(64)] + [str(digit)]))
        (self.folder / "data/digits").mkdir(parents=True)
        (self.folder / "data/digits/digits.csv").write_text("\n".join(lines) + "\n")

    def test_every_job_is_without_mistakes(self):
        self.digits(400)
        for job in sorted(self.examples.glob("*.toml")):
            with self.subTest(job.name):
                self.run_tool("config", "check", str(job))

    def test_digits_from_a_file(self):
        self.digits(400)
        report = self.train("digits.toml", 2, "train.epochs=10")
        self.assertEqual(report["steps"], 60)
        self.assertEqual(report["metrics"]["accuracy"], 1, report)
        self.check_predictions(self.folder / "runs/digits/best.safetensors")

    def check_predictions(self, model):
        """The model of the demo finds the digit that a row shows, in rows without the digit."""
        rows = [",".join(f"p{i}" for i in range(64))] + [",".join("16" if i == digit else "0" for i in range(64)) for digit in (7, 0, 3)]
        (self.folder / "new.csv").write_text("\n".join(rows) + "\n")
        found = json.loads(self.run_tool("predict", model, "new.csv", "--json"))["predictions"]
        self.assertEqual([each["class"] for each in found], ["7", "0", "3"])

    def test_a_job_finds_its_data_from_anywhere(self):
        self.digits(100)
        elsewhere = self.folder / "else" / "where"
        elsewhere.mkdir(parents=True)
        self.train("digits.toml", 1, "train.epochs=1", cwd=elsewhere)
        self.assertTrue((elsewhere / "runs/digits/best.safetensors").is_file())
        self.train("digits.toml", 1, "train.epochs=1", "data.path=../../data/digits/digits.csv", cwd=elsewhere)

    def test_generated_digits(self):
        report = self.train("generated.toml", 2, "train.epochs=2")
        self.assertGreater(report["metrics"]["accuracy"], 0.8, report)
        steps = (self.folder / "runs/generated/steps.jsonl").read_text().splitlines()
        self.assertEqual(len(steps), report["steps"])

    def test_the_transformer_has_the_same_bits_on_any_number_of_ranks(self):
        reports = [self.train("gpt.toml", ranks, "train.steps=10") for ranks in (1, 2, 4)]
        self.assertEqual({report["steps"] for report in reports}, {10})
        self.assertEqual(len({report["parameters_hash"] for report in reports}), 1, reports)
        self.assertEqual(len({report["loss"] for report in reports}), 1, reports)
        other = self.train("gpt.toml", 2, "train.steps=10", "train.seed=2")
        self.assertNotEqual(other["parameters_hash"], reports[0]["parameters_hash"])

    def test_the_trainer_example_has_the_same_bits_too(self):
        alone, together = (self.run_tool("run", "-n", str(ranks), "--threads", "1", "--no-prefix", TRAINER)
                           for ranks in (1, 2))
        self.assertEqual(alone, together)
        self.assertIn("parameters ", alone)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

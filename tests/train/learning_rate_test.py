"""The learning rates of `cohort train`, and `cohort lr-range`, as a user starts them.

Usage: learning_rate_test.py TOOL [CLASS...]"""

import json
import math
import re
import subprocess
import unittest
import xml.etree.ElementTree

from train_job import LIMIT, TOOL, TrainJob

JOB = {"data": {"kind": "spirals", "samples": 96, "test_samples": 32}, "model": {"kind": "mlp", "hidden": [16]},
       "optimizer": {"name": "adamw", "learning_rate": 0.02}, "train": {"batch_size": 16, "epochs": 2}}


def with_keys(**sections):
    return {name: {**JOB.get(name, {}), **sections.get(name, {})} for name in {**JOB, **sections}}


class Schedules(TrainJob):
    def rates(self):
        return [step["learning_rate"] for step in self.steps()]

    def test_every_schedule_runs(self):
        explained = subprocess.run([TOOL, "config", "explain", "schedule.name"], capture_output=True, text=True, timeout=LIMIT, check=True)
        names = re.search(r"one of ([a-z, -]+)", explained.stdout).group(1).split(", ")
        self.assertIn("plateau", names)
        self.assertGreaterEqual(len(names), 11)
        for name in names:
            self.train(JOB, "--set", f"schedule.name={name}")
            rates = self.rates()
            self.assertEqual(len(rates), 12)
            self.assertTrue(all(0 <= rate <= 0.02 for rate in rates), (name, rates))
            self.assertEqual(len(set(rates)) == 1, name in ("constant", "plateau"), (name, rates))

    def test_a_plateau_goes_on(self):
        """Each epoch is a plateau, since no loss is a thousandth of the first."""
        job = with_keys(schedule={"name": "plateau", "factor": 0.5, "patience": 0, "threshold": 0.999, "metric": "training"},
                        train={"epochs": 5})
        whole = self.train(job)
        rates = self.rates()
        self.assertEqual(rates, [0.02] * 12 + [0.01] * 6 + [0.005] * 6 + [0.0025] * 6)
        job["train"]["directory"] = str(self.folder / "interrupted")
        job["checkpoint"] = {"every": "100 steps"}
        self.train(job, "--set", "train.steps=15")
        self.assertEqual(self.train(job, "--resume")["parameters_hash"], whole["parameters_hash"])
        self.assertEqual([step["learning_rate"] for step in self.steps(self.folder / "interrupted")], rates)

    def test_factors_of_ranks(self):
        hashes = [self.train(JOB, "--set", f"train.rank_factors={factors}")["parameters_hash"] for factors in ([], [2, 2], [1, 0.5])]
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0], hashes[2])
        refused = self.run_job(JOB, "--set", "train.rank_factors=[1, 1]", ranks=3)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("train.rank_factors has 2 numbers, expected 3, one for each rank", refused.stderr)


class Ranges(TrainJob):
    def lr_range(self, sections, *options, ranks=2):
        words = self.words(sections, *options, ranks=ranks)
        words[1] = "lr-range"
        return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)

    def test_a_loss_that_diverges(self):
        job = with_keys(optimizer={"name": "sgd", "momentum": 0.9, "groups": ["*.bias: learning_rate=0.04"]}, schedule={"name": "cosine"},
                        checkpoint={"every": "1 steps"})
        result = self.lr_range(job, "--from", "1e-3", "--to", "1e6", "--steps", "90", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        points = found["points"]
        self.assertTrue(found["diverged"])
        self.assertGreater(len(points), 10)
        self.assertLess(len(points), 90)
        for i, point in enumerate(points):
            self.assertTrue(math.isclose(point["learning_rate"], 1e-3 * 1e9 ** (i / 89), rel_tol=1e-9), (i, point))
        smoothed = mean = weight = 0
        for point in points:
            mean, weight = 0.9 * mean + 0.1 * point["loss"], 0.9 * weight + 0.1
            smoothed = mean / weight
            self.assertTrue(math.isclose(point["smoothed_loss"], smoothed, rel_tol=1e-12))
        lowest = min(points, key=lambda point: point["smoothed_loss"])
        suggested = found["suggested_learning_rate"]
        self.assertEqual(suggested["tenth_of_minimum"], lowest["learning_rate"] / 10)
        self.assertTrue(points[0]["learning_rate"] < suggested["steepest"] < lowest["learning_rate"])
        self.assertFalse(self.directory.exists(), "the test writes nothing")

    def test_a_loss_that_does_not(self):
        result = self.lr_range(JOB, "--from", "1e-6", "--to", "1e-5", "--steps", "7", "--json", ranks=3)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        self.assertFalse(found["diverged"])
        self.assertEqual(len(found["points"]), 7)
        self.assertEqual(found["ranks"], 3)

    def test_table_chart_and_plot(self):
        plot = self.folder / "range.svg"
        result = self.lr_range(JOB, "--from", "1e-4", "--to", "0.1", "--steps", "60", f"--plot={plot}")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], "step +learning rate +loss +smoothed loss")
        self.assertGreater(sum(1 for line in lines if "|" in line and "*" in line), 2)
        self.assertRegex(result.stdout, r"optimizer\.learning_rate = [0-9.e-]+: where the loss falls fastest")
        drawn = xml.etree.ElementTree.fromstring(plot.read_text())
        lines = [element for element in drawn.iter() if element.tag.endswith("polyline")]
        self.assertEqual([len(line.get("points").split()) for line in lines], [60, 60])
        self.assertIn("learning rate", "".join(drawn.itertext()))

    def test_suggestions_are_for_the_key(self):
        """With a scaled learning rate, the key has the rate of the steps divided by the factor."""
        plain = self.lr_range(JOB, "--from", "1e-4", "--to", "0.1", "--steps", "30", "--json")
        scaled = self.lr_range(with_keys(schedule={"scale_with_batch": "linear", "base_batch_size": 4}), "--from", "1e-4", "--to", "0.1",
                               "--steps", "30", "--json")
        one, other = (json.loads(result.stdout) for result in (plain, scaled))
        self.assertEqual(one["points"], other["points"])
        self.assertEqual(one["suggested_learning_rate"]["steepest"], 4 * other["suggested_learning_rate"]["steepest"])

    def test_mistakes(self):
        for options, words in ((("--from", "0"), "expected a learning rate above 0"), (("--from", "2", "--to", "1"), "and a higher one"),
                               (("--steps", "2"), "--steps 2: it lies between 3 and 1000000"),
                               (("--plot", str(self.folder / "none" / "range.svg")), "cannot write the plot")):
            result = self.lr_range(JOB, *options)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(words, result.stderr)
            self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main()

"""`cohort train` with solvers as optimizer.name, as a user starts it.

Usage: solver_job_test.py TOOL [CLASS...]"""

import json
import math
import os
import signal
import subprocess
import unittest

from train_job import LIMIT, TOOL, TrainJob, ranks_of, tensors_of

SOLVERS = ("lbfgs", "owlqn", "gauss-newton")
# As examples/digits.toml, whose optimizer is replaced on the command line.
DIGITS = {"data": {"kind": "digits", "samples": 240, "test_samples": 60, "image_size": 12, "normalize": True},
          "model": {"kind": "mlp", "hidden": [16, 12], "dropout": 0.1},
          "optimizer": {"name": "adamw", "weight_decay": 0.01, "groups": ["*.bias: weight_decay=0"]},
          "schedule": {"name": "cosine", "warmup_steps": 20},
          "train": {"batch_size": 64, "epochs": 4}}


class Solvers(TrainJob):
    def test_every_solver_replaces_the_optimizer_of_a_job(self):
        explained = subprocess.run([TOOL, "config", "explain", "optimizer.name"], capture_output=True, text=True, timeout=LIMIT, check=True)
        for name in SOLVERS:
            self.assertIn(name, explained.stdout)
            result = self.run_job(DIGITS, "--json", "--set", f"optimizer.name={name}", "--set", "optimizer.learning_rate=0.003")
            self.assertEqual(result.returncode, 0, result.stderr)
            for key in ("[schedule]", "optimizer.learning_rate"):
                self.assertIn(f"{key} has no effect", result.stderr)
            report = json.loads(result.stdout)
            losses = [step["loss"] for step in self.steps()]
            self.assertEqual(len(losses), 4)
            self.assertEqual(losses, sorted(losses, reverse=True), "no iteration raises the loss")
            self.assertLess(losses[-1], losses[0])
            self.assertEqual(report["solver"]["iterations"], 4)
            self.assertEqual(report["solver"]["products"] > 0, name == "gauss-newton")
            self.assertTrue((self.directory / "last.safetensors").exists())

    def test_a_plan(self):
        plan = self.train(DIGITS, "--set", "optimizer.name=lbfgs", "--dry-run")
        self.assertEqual((plan["steps"], plan["steps_per_epoch"], plan["batch"]), (4, 1, 240))
        self.assertIn("lbfgs with a history of 10", plan["update"])

    def test_keys_without_effect_are_refused(self):
        for keys, word in ((["optimizer.clip_grad_norm=1"], "has no effect on the solver"), (["optimizer.momentum=0.5"], "only on sgd"),
                           (["optimizer.l1=0.1"], "only on owlqn"), (["precision.compute=bf16"], "precision.compute has no effect")):
            options = [word for key in keys for word in ("--set", key)]
            result = self.run_job(DIGITS, "--set", "optimizer.name=lbfgs", *options)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(word, result.stderr)
        refused = self.run_job(DIGITS, "--set", "optimizer.history_size=5")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("optimizer.history_size has no effect on optimizer.name = \"adamw\"", refused.stderr)

    def test_ends_with_a_reason(self):
        job = {"data": {"kind": "regression", "samples": 60, "features": 5}, "model": {"kind": "linear"},
               "optimizer": {"name": "lbfgs", "tolerance_grad": 1e-5}, "train": {"epochs": 100}}
        report = self.train(job)
        self.assertEqual(report["ended"], "solved")
        self.assertEqual(report["solver"]["end"], "the gradient is within the tolerance")
        self.assertLess(report["steps"], 30)
        shown = self.run_job(job)
        self.assertIn("ended because", shown.stdout)

    def test_a_range_test_is_for_optimizers(self):
        job = self.write_job(DIGITS)
        refused = subprocess.run([TOOL, "lr-range", str(job), "-n", "1", "--set", "optimizer.name=lbfgs"], capture_output=True, text=True,
                                 timeout=LIMIT)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("has no learning rate to find", refused.stderr)

    def test_a_rank_that_is_killed_ends_the_job(self):
        job = self.start({**DIGITS, "train": {"batch_size": 8, "epochs": 100000}}, "--set", "optimizer.name=gauss-newton",
                         "--set", "optimizer.tolerance_change=0", "--set", "optimizer.tolerance_grad=0")
        self.wait_for_steps(job)
        os.kill(ranks_of(job)[1], signal.SIGKILL)
        code, _, error = self.end_of(job)
        self.assertNotEqual(code, 0)
        self.assertIn("rank 1", error)

    def test_goes_on_after_an_interruption(self):
        for name in ("lbfgs", "gauss-newton"):
            job = {**DIGITS, "train": {**DIGITS["train"], "directory": str(self.folder / f"whole {name}")}}
            job["optimizer"] = {**job["optimizer"], "name": name}
            whole = self.train(job)["parameters_hash"]
            job["train"]["directory"] = str(self.folder / f"interrupted {name}")
            job["checkpoint"] = {"every": "1 steps"}
            self.train(job, "--set", "train.steps=2")
            self.assertEqual(self.train(job, "--resume")["parameters_hash"], whole, name)


class AgainstScipy(TrainJob):
    """The optimum of logistic regression is that of an independent solver."""

    def setUp(self):
        super().setUp()
        try:
            import numpy
            import scipy.optimize
        except ImportError:
            self.skipTest("this Python has no scipy")
        self.numpy, self.optimize = numpy, scipy.optimize

    def test_logistic_regression(self):
        numpy = self.numpy
        random = numpy.random.default_rng(4)
        inputs = random.normal(size=(90, 4)).astype(numpy.float32)
        classes = (inputs @ [1.0, -2.0, 0.5, 0.0] + random.normal(size=90) > 0).astype(int)
        table = "\n".join(",".join([*(repr(float(x)) for x in row), "yes" if c else "no"]) for row, c in zip(inputs, classes))
        (self.folder / "points.csv").write_text("a,b,c,d,class\n" + table + "\n")
        decay = 0.01
        job = {"data": {"kind": "csv", "path": str(self.folder / "points.csv"), "target_column": "class", "test_share": 0.0},
               "model": {"kind": "logistic"}, "train": {"epochs": 200}}

        def objective(weights):
            margins = inputs.astype(float) @ weights[:4] + weights[4]
            return numpy.logaddexp(0, margins).mean() - (margins * classes).mean() + decay / 2 * (weights ** 2).sum()

        expected = self.optimize.minimize(objective, numpy.zeros(5), method="BFGS", options={"gtol": 1e-8})
        for name in SOLVERS:
            report = self.train(job, "--set", f"optimizer.name={name}", "--set", f"optimizer.weight_decay={decay}",
                                "--set", "optimizer.tolerance_grad=1e-6", "--set", "optimizer.tolerance_change=0", ranks=3)
            tensors, _ = tensors_of(self.directory / "last.safetensors")
            found = [number for key in sorted(tensors, key=lambda key: key.endswith("bias")) for number in tensors[key]]
            self.assertEqual(len(found), 5)
            if not math.isclose(abs(sum(found)), abs(sum(expected.x)), rel_tol=1e-2):
                self.fail((name, found, list(expected.x)))
            sign = 1 if found[0] * expected.x[0] > 0 else -1  # which class is 1 follows from the order of their names
            for mine, theirs in zip(found, expected.x):
                self.assertAlmostEqual(sign * mine, theirs, delta=1e-4, msg=name)
            self.assertAlmostEqual(report["loss"], expected.fun, delta=1e-6, msg=name)


if __name__ == "__main__":
    suite = unittest.main(exit=False).result
    # CTest counts an entry as skipped if all of its tests were.
    raise SystemExit(1 if not suite.wasSuccessful() else 77 if suite.testsRun and len(suite.skipped) == suite.testsRun else 0)

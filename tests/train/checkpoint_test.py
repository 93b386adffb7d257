"""`cohort train` with checkpoints: a job that was killed, stopped or moved to another number of ranks goes on as if nothing had been."""

import json
import os
import signal
import subprocess
import time
import unittest

from train_job import LIMIT, TOOL, TrainJob, ranks_of

STOPPED = 85
MLP = {"data": {"kind": "digits", "samples": 600, "test_samples": 60},
       "model": {"kind": "mlp", "hidden": [24], "dropout": 0.2},
       "optimizer": {"name": "adamw", "learning_rate": 0.002, "clip_grad_norm": 0.5},
       "train": {"batch_size": 50, "epochs": 4}}
ANY_WORLD = {**MLP, "train": {**MLP["train"], "deterministic": "any-world", "micro_batches": 8}}


class Resuming(TrainJob):
    """One folder for all runs of a test."""

    def job(self, sections, directory="run", **train):
        self.chosen = self.folder / directory
        return {**sections, "train": {**sections["train"], **train, "directory": str(self.chosen)}}

    def hash_of(self, sections, *options, directory="run", ranks=2, **train):
        return self.train(self.job(sections, directory, **train), *options, ranks=ranks)["parameters_hash"]

    def snapshots(self):
        folder = self.chosen / "checkpoints"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


class GoingOn(Resuming):
    def test_in_the_middle_of_an_epoch(self):
        expected = self.hash_of(MLP, steps=40, directory="whole")
        self.hash_of(MLP, "--set", "checkpoint.every=10 steps", steps=25)
        self.assertEqual(self.snapshots()[-1], "step-000000000025")
        self.assertEqual(self.hash_of(MLP, "--resume", steps=40), expected)
        self.assertEqual([step["step"] for step in self.steps(self.chosen)], list(range(1, 41)))

    def test_on_other_ranks(self):
        expected = self.hash_of(ANY_WORLD, steps=40, directory="whole")
        self.hash_of(ANY_WORLD, "--set", "checkpoint.every=10 steps", steps=25)
        self.assertEqual(self.hash_of(ANY_WORLD, "--resume", steps=40, ranks=4), expected)

    def test_without_a_snapshot_begins_anew(self):
        self.assertEqual(self.hash_of(MLP, "--resume", steps=3), self.hash_of(MLP, steps=3, directory="whole"))

    def test_from_a_named_snapshot(self):
        expected = self.hash_of(MLP, steps=20, directory="whole")
        self.hash_of(MLP, "--set", "checkpoint.every=5 steps", "--set", "checkpoint.background=false", steps=15)
        path = self.chosen / "checkpoints/step-000000000010"
        self.assertEqual(self.hash_of(MLP, f"--resume={path}", "--set", "checkpoint.every=5 steps", steps=20), expected)
        self.assertIn("set-aside-1", self.snapshots())

    def test_a_path_without_snapshots(self):
        missing = self.folder / "step-000000000007"
        result = self.run_job(self.job(MLP), f"--resume={missing}", "--json")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("there is no snapshot 'step-000000000007'", result.stderr)


class Killed(Resuming):
    """All ranks end by SIGKILL at any time, even while a snapshot is written."""

    def test_ranks_are_killed(self):
        expected = self.hash_of(MLP, directory="whole")
        options = ["--set", "checkpoint.every=1 steps", "--resume"]
        slow = ["--set", "checkpoint.background=false"]
        self.words(MLP)
        for num_snapshots in (1, 8, 20):
            job = self.start(self.job(MLP), *options, *slow)
            self.wait_for(lambda: job.poll() is not None or self.last_step() >= num_snapshots, "a snapshot")
            for pid in ranks_of(job).values():
                os.kill(pid, signal.SIGKILL)
            code, _, _ = self.end_of(job)
            self.assertNotEqual(code, STOPPED)
        self.assertEqual(self.hash_of(MLP, *options), expected)
        self.assertEqual([step["step"] for step in self.steps(self.chosen)], list(range(1, 49)))

    def last_step(self):
        steps = [int(name[5:]) for name in self.snapshots() if name.startswith("step-")]
        return max(steps, default=0)


class Stopped(Resuming):
    """A signal, or a time limit, ends training in order, and its state is saved."""

    ENDLESS = {**MLP, "train": {"batch_size": 50, "epochs": 10**6, "evaluate_every": 10**6}}

    def check(self, code, errors):
        self.assertEqual(code, STOPPED, errors)
        self.assertIn("their state is saved", errors)
        before = len(self.steps(self.chosen))
        newest = json.loads(self.listed("--json"))["snapshots"][-1]
        self.assertEqual(newest["step"], before)
        self.assertLess(abs(newest["taken_at"] - time.time()), 2 * LIMIT)
        self.assertIn(time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(newest["taken_at"])), self.listed())
        self.train(self.job(self.ENDLESS, steps=before + 2), "--resume")
        self.assertEqual(len(self.steps(self.chosen)), before + 2)

    def listed(self, *options):
        return subprocess.run([TOOL, "checkpoint", "list", str(self.chosen), *options], text=True, timeout=LIMIT, stdout=subprocess.PIPE,
                              check=True).stdout

    def test_by_a_signal_to_the_tool(self):
        job = self.start(self.job(self.ENDLESS), "--set", "checkpoint.every=1 h")
        self.wait_for_steps(job, self.chosen)
        job.send_signal(signal.SIGTERM)
        code, _, errors = self.end_of(job)
        self.check(code, errors)

    def test_by_a_time_limit(self):
        result = self.run_job(self.job(self.ENDLESS), "--set", "checkpoint.every=1 h", "--set", "train.time_limit=2s")
        self.check(result.returncode, result.stderr)

    def test_before_slurm_ends_the_job(self):
        environment = {**os.environ, "SLURM_JOB_END_TIME": "1000000000"}  # long past
        result = self.run_job(self.job(self.ENDLESS), "--set", "checkpoint.every=1 h", env=environment)
        self.assertEqual(result.returncode, STOPPED, result.stderr)

    def test_without_checkpoints_the_code_is_that_of_the_signal(self):
        job = self.start(self.job(self.ENDLESS))
        self.wait_for_steps(job, self.chosen)
        job.send_signal(signal.SIGTERM)
        code, _, _ = self.end_of(job)
        self.assertEqual(code, 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()

"""`cohort train` on several hosts: the plan is what runs, and the ranks of a host share a copy of the parameters."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from cluster import SKIPPED, Cluster, missing

if missing():
    print(f"skipped: {missing()}")
    sys.exit(SKIPPED)

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
LIMIT = 120  # seconds; only a broken program takes this long
JOB = """
[data]
kind = "spirals"
samples = 96
test_samples = 8
[model]
kind = "mlp"
hidden = [24, 24]
[train]
batch_size = 24
micro_batches = 8
steps = 3
bucket_bytes = 1024
directory = "{directory}"
"""
WAYS = {"at once": [], "after the vote": ["optimizer.clip_grad_norm=1.0"], "any world": ["train.deterministic=any-world"],
        "a group by tree": ['optimizer.groups=["*.bias: reducer=tree"]']}


class OnTwoHosts(unittest.TestCase):
    def setUp(self):
        self.hosts = Cluster("a", "b")
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "job.toml").write_text(JOB.format(directory=self.folder / "run"))

    def train(self, where, settings, *options):
        words = [word for setting in settings for word in ("--set", setting)]
        command = self.hosts.inside("a", TOOL, "train", self.folder / "job.toml", "--json", *where, *words, *options)
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def on_hosts(self, shares):
        return ["--hosts", shares, "--start", self.hosts.start_way()]

    def test_the_plan_is_what_runs(self):
        for shares, settings in (("a:2,b:2", []), ("a:2,b:2", WAYS["after the vote"]), ("a:2,b:2", WAYS["a group by tree"]), ("a:2,b:1", [])):
            plan = self.train(self.on_hosts(shares), settings, "--dry-run")
            file = self.folder / "trace.json"
            self.train(self.on_hosts(shares), [*settings, f"trace.file={file}"])
            first = [program for program in json.loads(file.read_text())["programs"] if program["step"] == 0]
            self.assertEqual([program["rank"] for program in first], [program["rank"] for program in plan["programs"]])
            for planned, ran in zip(plan["programs"], first):
                actions = [{key: action[key] for key in action if key not in ("begin_s", "end_s")} for action in ran["actions"]]
                self.assertEqual(actions, planned["actions"], f"{shares} {settings} rank {ran['rank']}")

    def test_ranks_of_a_host_share_a_copy(self):
        memory = {shares: self.train(self.on_hosts(shares), [], "--dry-run")["memory"][0] for shares in ("a:2,b:2", "a:2,b:1")}
        self.assertEqual(memory["a:2,b:2"]["what"], "parameters (1/2)")
        self.assertEqual(memory["a:2,b:1"]["what"], "parameters")

    def test_any_world_has_the_bits_of_one_rank(self):
        hashes = {self.train(where, WAYS["any world"])["parameters_hash"] for where in (["-n", "1"], ["-n", "4"], self.on_hosts("a:2,b:2"))}
        self.assertEqual(len(hashes), 1)


if __name__ == "__main__":
    unittest.main()

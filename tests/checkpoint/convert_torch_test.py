"""`cohort checkpoint convert` from and to files of PyTorch, which Python writes and reads.

Usage: convert_torch_test.py TOOL PYTHON; PYTHON is one that may have torch. Without it: skipped."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
TOOL = pathlib.Path(sys.argv[1]).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
SAFETENSORS = pathlib.Path(__file__).resolve().parents[2] / "bench/peers"

if sys.argv[-1] != "with-torch":
    python = sys.argv[2]
    if not os.path.exists(python) or subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=120).returncode:
        print(f"skipped: {python} cannot import torch; `dev/setup test` mends that")
        sys.exit(SKIPPED)
    os.execv(python, [python, "-W", "ignore", __file__, *sys.argv[1:], "with-torch"])

import torch
import torch.distributed.checkpoint as dcp

sys.path.insert(0, str(SAFETENSORS))
import safetensors_file


class Convert(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))

    def convert(self, *arguments, code=0):
        result = subprocess.run([TOOL, "checkpoint", "convert", *map(str, arguments)], cwd=self.folder, capture_output=True,
                                text=True, timeout=60)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stderr

    def read(self, name):
        return safetensors_file.read(self.folder / name)[0]

    def same(self, found, expected):
        self.assertEqual(set(found), set(expected))
        for name, tensor in expected.items():
            self.assertEqual(found[name].dtype, tensor.dtype, name)
            self.assertTrue(torch.equal(found[name], tensor), name)

    def test_a_snapshot_for_torch_load(self):
        self.convert(GOLDEN, "model.pt", "--to", "torch")
        self.convert(GOLDEN, "model.safetensors", "--to", "safetensors")
        found = torch.load(self.folder / "model.pt", weights_only=True)
        self.assertEqual(len(found), 11)
        self.same({name: tensor.view(torch.uint8) if tensor.dim() else tensor for name, tensor in found.items()},
                  {name: tensor.view(torch.uint8) if tensor.dim() else tensor for name, tensor in self.read("model.safetensors").items()})
        self.assertIn("the settings of the optimizer, such as lr, are not known",
                      self.convert(GOLDEN, "all.pt", "--to", "torch", "--with", "optimizer", code=2))

    def test_a_state_dict_becomes_a_snapshot(self):
        weights = self.model.state_dict()
        torch.save({"state_dict": {f"module.{name}": tensor for name, tensor in weights.items()}}, self.folder / "ddp.pt")
        text = self.convert("ddp.pt", "imported", "--to", "cohort", "--rename", "module.* -> *", "--rename", "x.* -> *")
        self.assertIn(f"module.* -> *: {len(weights)} tensors", text)
        self.assertIn("x.* -> *: no tensor has such a name", text)
        self.convert("imported", "back.pt", "--to", "torch")
        self.same(torch.load(self.folder / "back.pt", weights_only=True), weights)
        self.model.load_state_dict(torch.load(self.folder / "back.pt", weights_only=True))
        self.convert("imported", "renamed.safetensors", "--to", "safetensors", "--rename", "2.* -> head.*")
        self.assertIn("head.bias", self.read("renamed.safetensors"))

    def test_an_optimizer(self):
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, self.folder / "both.pt")
        self.convert("both.pt", "both.safetensors", "--to", "safetensors", "--with", "optimizer")
        found = self.read("both.safetensors")
        self.assertEqual(found["weight/step"].item(), 1)
        self.assertTrue(torch.equal(found["weight/exp_avg"], optimizer.state[model.weight]["exp_avg"]))
        self.convert("both.pt", "model.safetensors", "--to", "safetensors")
        self.same(self.read("model.safetensors"), model.state_dict())

    def test_a_directory_of_dcp(self):
        dcp.save({"model": self.model.state_dict()}, checkpoint_id=self.folder / "dcp", no_dist=True)
        report = json.loads(self.convert("dcp", "imported", "--to", "cohort", "--rename", "model.* -> *", "--json"))
        self.assertEqual(report["rules"], [{"rule": "model.* -> *", "tensors": len(self.model.state_dict())}])
        self.convert("imported", "back.pt", "--to", "torch")
        self.same(torch.load(self.folder / "back.pt", weights_only=True), self.model.state_dict())

    def test_names_that_clash(self):
        torch.save({"a.w": torch.ones(1), "b.w": torch.ones(1)}, self.folder / "two.pt")
        text = self.convert("two.pt", "x", "--to", "cohort", "--rename", "a -> b", code=2)
        self.assertIn("the tensors 'a.w' and 'b.w' would both be named 'b.w'", text)
        self.convert("two.pt", "x", "--to", "cohort", "--rename", "a", code=2)

    def test_a_file_that_runs_code_is_refused(self):
        class Bomb:
            def __reduce__(self):
                return os.system, ("touch exploded",)
        torch.save({"w": Bomb()}, self.folder / "bomb.pt")
        self.assertIn("system", self.convert("bomb.pt", "x", "--to", "cohort", code=1))
        self.assertFalse((self.folder / "exploded").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

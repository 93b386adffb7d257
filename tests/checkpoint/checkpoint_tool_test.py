"""`cohort checkpoint` on copies of the golden snapshots, and its files as other programs read them.

With the package safetensors installed, that package reads the files; else a reader of the header, which follows the
published format."""

import json
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
sys.path[:0] = [str(path) for path in GOLDEN.parents[2].glob(".venv/lib/python3*/site-packages")]
try:
    from safetensors import safe_open
except ImportError:
    safe_open = None
WIDTHS = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "BF16": 2, "F16": 2, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


def run(*arguments, folder):
    return subprocess.run([TOOL, "checkpoint", *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=60)


def header_of(path):
    """The entries of a safetensors file, checked as its reference implementation does."""
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata, end = header.pop("__metadata__", {}), 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        count = WIDTHS[entry["dtype"]]
        for dim in entry["shape"]:
            count *= dim
        assert entry["data_offsets"] == [end, end + count], (path, name, entry)
        end += count
    assert len(data) == 8 + length + end, path
    return header, metadata


class Files(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.snapshots = self.folder / "runs/mine/checkpoints"
        shutil.copytree(GOLDEN, self.snapshots, ignore=shutil.ignore_patterns("example"))

    def done(self, *arguments, code=0):
        result = run(*arguments, folder=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stdout + result.stderr


class OtherReaders(Files):
    def check(self, path):
        header, metadata = header_of(path)
        self.assertEqual(metadata["format"], "pt", path)
        if safe_open is not None:
            with safe_open(path, framework="pt") as file:
                self.assertEqual(set(file.keys()), set(header))
                for name, entry in header.items():
                    self.assertEqual(list(file.get_tensor(name).shape), entry["shape"], name)
        return header

    def test_shards_are_safetensors_files(self):
        shards = sorted(GOLDEN.rglob("*.safetensors"))
        self.assertEqual(len(shards), 7)
        names = set().union(*(self.check(shard) for shard in shards))
        self.assertIn("head.größe", names)
        self.assertIn("layers.0.weight/exp_avg@1", names)

    def test_the_index_names_files_that_have_the_weights(self):
        for arguments in ((), ("--shard-size", "100")):
            shutil.rmtree(self.folder / "hf", ignore_errors=True)
            self.done("convert", "runs/mine", "hf", "--to", "huggingface", *arguments)
            index = json.loads((self.folder / "hf/model.safetensors.index.json").read_text())
            self.assertEqual(len(index["weight_map"]), 11)
            for name, file in index["weight_map"].items():
                self.assertIn(name, self.check(self.folder / "hf" / file))
            size = sum(last - first for file in set(index["weight_map"].values())
                       for first, last in (entry["data_offsets"] for entry in self.check(self.folder / "hf" / file).values()))
            self.assertEqual(index["metadata"]["total_size"], size)

    def test_converted_to_one_file(self):
        self.done("convert", "runs/mine", "model.safetensors", "--to", "safetensors")
        self.assertEqual(len(self.check(self.folder / "model.safetensors")), 11)
        self.done("convert", "runs/mine", "all.safetensors", "--to", "safetensors", "--with", "optimizer")
        self.assertEqual(len(self.check(self.folder / "all.safetensors")), 15)

    def test_converted_to_a_snapshot(self):
        result = json.loads(self.done("convert", "runs/mine/4", "alone", "--to", "cohort", "--json"))
        self.assertEqual((result["source"], result["tensors"]), ("step-000000000004", 15))
        self.done("verify", "alone")
        self.assertIn("15 of 15 tensors in both are the same", self.done("diff", "runs/mine/4", "alone"))


class Damage(Files):
    def test_the_reason_names_file_and_tensor(self):
        shard = self.snapshots / "step-000000000003/model-00001-of-00002.safetensors"
        data = bytearray(shard.read_bytes())
        data[-1] ^= 1
        shard.write_bytes(data)
        report = json.loads(run("verify", "runs/mine", "--json", folder=self.folder).stdout)
        self.assertEqual([each["ok"] for each in report["snapshots"]], [False, False])
        damaged, = report["snapshots"][0]["damaged"]
        self.assertEqual((damaged["file"], damaged["tensor"]), (shard.name, "head.i32"))
        damaged, = report["snapshots"][1]["damaged"]
        self.assertEqual(damaged["file"], f"../step-000000000003/{shard.name}")
        for arguments in (("diff", "runs/mine/3", GOLDEN / "step-000000000003"), ("convert", "runs/mine/3", "x", "--to", "cohort")):
            text = self.done(*arguments, code=1)
            self.assertIn("tensor 'head.i32' in", text)
            self.assertIn("cohort checkpoint verify", text)

    def test_a_file_that_is_gone(self):
        (self.snapshots / "step-000000000003/training-00001-of-00002.safetensors").unlink()
        self.assertIn("training-00001-of-00002.safetensors", self.done("show", "runs/mine/3", code=1))
        self.assertEqual(self.done("list", "runs/mine").count("unreadable"), 2)

    def test_a_base_that_is_gone(self):
        shutil.rmtree(self.snapshots / "step-000000000003")
        self.assertIn("its base 'step-000000000003' is needed", self.done("show", "runs/mine/4", code=1))
        self.assertIn("../step-000000000003/manifest.json", self.done("verify", "runs/mine/4", code=1))


class Prune(Files):
    def names(self):
        return sorted(path.name for path in self.snapshots.iterdir())

    def test_a_base_stays_as_long_as_it_is_needed(self):
        self.done("prune", "runs/mine", "--keep-last", "1", "--keep-best", "0")
        self.assertEqual(self.names(), ["step-000000000003", "step-000000000004"])
        self.done("convert", "runs/mine", "full", "--to", "cohort")
        shutil.rmtree(self.snapshots / "step-000000000004")
        shutil.move(self.folder / "full/step-000000000004", self.snapshots)
        rules = ("prune", "runs/mine", "--keep-last", "1")
        self.done(*rules)  # step 3 is the best one
        self.done(*rules, "--keep-best", "0", "--keep-every", "3")
        self.done(*rules, "--keep-best", "0", "--dry-run")
        self.assertEqual(self.names(), ["step-000000000003", "step-000000000004"])
        report = json.loads(self.done(*rules, "--keep-best", "0", "--json"))
        self.assertEqual((report["removed"], report["freed_bytes"]), (["step-000000000003"], 3927))
        self.assertEqual(self.names(), ["step-000000000004"])

    def test_a_snapshot_that_cannot_be_read_is_not_the_one_that_is_kept(self):
        shard = self.snapshots / "step-000000000004/changes-00001-of-00002.safetensors"
        shard.write_bytes(b"")
        self.assertIn("is left alone", self.done("prune", "runs/mine", "--keep-last", "1", "--keep-best", "0"))
        self.assertEqual(self.names(), ["step-000000000003", "step-000000000004"])


class Paths(Files):
    def test_ways_to_name_a_snapshot(self):
        expected = json.loads(self.done("show", self.snapshots / "step-000000000003", "--json"))["position"]
        for path in ("runs/mine/3", "runs/mine/checkpoints/3", "runs/mine/step-000000000003", "runs/mine/checkpoints/step-000000000003/"):
            self.assertEqual(json.loads(self.done("show", path, "--json"))["position"], expected, path)
        inside = run("show", ".", "--json", folder=self.snapshots / "step-000000000004")
        self.assertEqual(json.loads(inside.stdout)["base"], "step-000000000003", inside.stderr)

    def test_completion(self):
        def complete(*words):
            return subprocess.run([TOOL, "complete", "--", *words], capture_output=True, text=True, timeout=60).stdout.split()
        self.assertEqual(complete("checkpoint", ""), ["list", "show", "verify", "diff", "convert", "prune"])
        self.assertEqual(complete("checkpoint", "convert", "--to", ""), ["safetensors", "huggingface", "torch", "cohort"])
        self.assertEqual(complete("checkpoint", "prune", "--keep-b"), ["--keep-best"])

    def test_colours_on_a_terminal(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([TOOL, "checkpoint", "verify", GOLDEN], stdout=slave, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertIn("\033[32mok", os.read(master, 4096).decode())
        os.close(master)


if __name__ == "__main__":
    print("read by the package safetensors" if safe_open else "without the package safetensors: read by the published format")
    unittest.main()

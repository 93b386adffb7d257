"""Files of torch.save() and of DCP are read as Python wrote them, and files written here are read by Python.

Usage: against_torch_test.py INTERCHANGE_CASE PYTHON; PYTHON is one that may have torch. Without it: skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
LIMIT = 120
CASE = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 2 else None


def go_on_with_torch(python):
    """Starts this script again in a Python that has torch, or skips."""
    if not os.path.exists(python) or subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=LIMIT).returncode:
        print(f"skipped: {python} cannot import torch; `dev/setup test` mends that")
        sys.exit(SKIPPED)
    os.execv(python, [python, "-W", "ignore", __file__, *sys.argv[1:], "with-torch"])


def run(*words):
    result = subprocess.run([str(CASE), *map(str, words)], capture_output=True, text=True, timeout=LIMIT)
    if result.returncode:
        raise AssertionError(result.stderr)
    return result.stdout


if sys.argv[-1] == "with-torch":
    import torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch import nn

    NAMES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16", torch.int8: "i8",
             torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8", torch.bool: "bool"}


def as_json(value):
    """The tree as interchange_case prints it."""
    if isinstance(value, torch.Tensor):
        raw = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        return {"dtype": NAMES[value.dtype], "shape": list(value.shape), "hex": raw.hex()}
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return {"tuple": [as_json(each) for each in value]}
    if isinstance(value, list):
        return [as_json(each) for each in value]
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return value


def many_tensors():
    torch.manual_seed(1)
    tensors = {}
    for dtype in NAMES:
        for shape in ((), (0,), (1,), (3, 5), (2, 3, 4), (131,)):
            tensors[f"{dtype}{list(shape)}"] = (torch.randn(shape) * 9).to(dtype)
    wide = torch.randn(7, 3000)
    tensors.update(wide=wide, turned=wide.t(), rows=wide[1::2], columns=wide[:, ::3], part=wide[2:4, 5:2000],
                   last=wide[-1, -1], spread=torch.randn(1, 4).expand(5, 4), parameter=nn.Parameter(torch.randn(2)),
                   permuted=torch.randn(2, 3, 4).permute(2, 0, 1), none=torch.empty(3, 0).t())
    return tensors


def trained(make):
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 3))
    optimizer = make(model)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(2, 5)).square().sum().backward()
        optimizer.step()
    return model, optimizer


OPTIMIZERS = {
    "sgd": lambda model: torch.optim.SGD(model.parameters(), lr=0.1),
    "momentum": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda model: torch.optim.Adam(model.parameters(), lr=0.1, amsgrad=True),
    "adamw": lambda model: torch.optim.AdamW([{"params": model[0].parameters(), "lr": 0.1}, {"params": model[1].parameters()}]),
    "rmsprop": lambda model: torch.optim.RMSprop(model.parameters(), momentum=0.5, centered=True),
    "adagrad": lambda model: torch.optim.Adagrad(model.parameters()),
}


class AgainstTorch(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def expect_read(self, value, **options):
        torch.save(value, self.folder / "x.pt", **options)
        self.assertEqual(json.loads(run("read", self.folder / "x.pt")), as_json(value))

    def expect_copied(self, value):
        torch.save(value, self.folder / "x.pt")
        run("copy", self.folder / "x.pt", self.folder / "y.pt")
        copy = torch.load(self.folder / "y.pt", weights_only=True)
        self.assertEqual(as_json(copy), as_json(value))
        self.assertIs(type(copy), type(value))
        mapped = torch.load(self.folder / "y.pt", weights_only=True, mmap=True)
        self.assertEqual(as_json(mapped), as_json(value))
        return copy

    def test_tensors_are_read(self):
        self.expect_read(many_tensors())
        self.expect_read(many_tensors(), _use_new_zipfile_serialization=False)
        for protocol in (3, 4, 5):
            self.expect_read({"a": torch.ones(2), "b": [b"x", "y", 2**40, -1, 1.25, (1, 2, 3, 4), {}]}, pickle_protocol=protocol)
        torch.serialization.set_crc32_options(False)
        self.expect_read(many_tensors())
        torch.serialization.set_crc32_options(True)

    def test_models_are_read_and_written(self):
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
            model = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5)).to(dtype)
            self.expect_read(model.state_dict())
            model.load_state_dict(self.expect_copied(model.state_dict()))
        self.expect_copied(many_tensors())
        self.expect_copied({"n": None, "b": [True, False], "i": 2**40, "j": -7, "f": 1e-8, "t": "Grüße", "y": b"\x00\xff", "u": (1, ())})

    def test_states_of_optimizers_are_read_and_written(self):
        for kind, make in OPTIMIZERS.items():
            with self.subTest(kind):
                model, optimizer = trained(make)
                names = [name for name, _ in model.named_parameters()]
                self.expect_read(optimizer.state_dict())
                self.expect_read(optimizer.state_dict(), _use_new_zipfile_serialization=False)
                printed = run("optimizer", self.folder / "x.pt", self.folder / "y.pt", *names).split("\n")
                if kind == "adamw":
                    self.assertIn("0.weight/exp_avg f32", printed)
                    self.assertIn("0.weight/step i64", printed)
                loaded = torch.load(self.folder / "y.pt", weights_only=True)
                other, again = trained(make)
                again.load_state_dict(loaded)
                self.assertEqual(as_json(again.state_dict()["param_groups"]), as_json(optimizer.state_dict()["param_groups"]))
                state, expected = again.state_dict()["state"], optimizer.state_dict()["state"]
                for index, fields in expected.items():
                    for key, value in fields.items():
                        if value is not None:
                            self.assertTrue(torch.equal(state[index][key], value), (index, key))
                other.load_state_dict(model.state_dict())
                for each, taking in ((model, optimizer), (other, again)):
                    taking.zero_grad()
                    each(torch.ones(1, 5)).sum().backward()
                    taking.step()
                self.assertEqual(as_json(other.state_dict()), as_json(model.state_dict()))

    def test_names_are_taken_from_the_file(self):
        model, optimizer = trained(lambda model: torch.optim.AdamW(model.named_parameters()))
        torch.save({"optimizer": optimizer.state_dict()}, self.folder / "x.pt")
        torch.save(optimizer.state_dict(), self.folder / "x.pt")
        printed = run("optimizer", self.folder / "x.pt", self.folder / "y.pt", *[n for n, _ in model.named_parameters()])
        self.assertIn("1.bias/exp_avg_sq f32", printed)

    def test_objects_are_refused(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("touch executed",)

        for value in (Evil(), nn.Linear(2, 2), {"a": [Evil()]}, torch.zeros(2, dtype=torch.complex64), torch.ones(2, 3).to_sparse()):
            try:
                torch.save(value, self.folder / "x.pt")
            except AttributeError:
                continue
            with self.assertRaisesRegex(AssertionError, "^unsupported: .*(global|elements of type)"):
                run("read", self.folder / "x.pt")
        torch.jit.save(torch.jit.script(nn.Linear(2, 2)), self.folder / "x.pt")
        with self.assertRaisesRegex(AssertionError, "^unsupported: .*TorchScript"):
            run("read", self.folder / "x.pt")

    def test_directories_of_dcp_are_read(self):
        subprocess.run([sys.executable, "-W", "ignore", pathlib.Path(__file__).with_name("save_dcp.py"), self.folder], check=True, timeout=LIMIT)
        expected = torch.load(self.folder / "whole.pt", weights_only=True)
        found = json.loads(run("dcp", self.folder / "dcp", "model.* -> *", "optim.state.**.exp_avg -> **/exp_avg",
                               "optim.state.**.exp_avg_sq -> **/exp_avg_sq", "optim.state.**.step -> **/step"))
        self.assertEqual(found["tensors"], as_json(expected))
        self.assertEqual(found["values"]["step"], 3)


def main():
    if sys.argv[-1] != "with-torch":
        go_on_with_torch(sys.argv[2])
    torch.set_num_threads(1)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()

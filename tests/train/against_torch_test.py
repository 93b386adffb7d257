"""`cohort train` has the same losses as PyTorch, step by step, from the same weights, for every optimizer and every model.

Usage: against_torch_test.py TOOL PYTHON [CLASS...]; PYTHON is an interpreter that may have torch; without torch all tests are skipped.

Samples come in the order in which they are stored (data.shuffle = false); most steps take the whole data set (train.batch_size = 0).

The tolerance between losses: two sums of m numbers in different orders differ by about sqrt(m) u of what is added, u = 2^-24
being the rounding of one operation on f32. A loss and its gradient come from sums of at most m = samples x width, and a step
adds its error to those of the steps before, for the learning rates here are small enough that steps do not amplify
them. A model of d layers has 2 d such sums in a row, d forward and d backward. After k steps that is 2 d k sqrt(m) u, relative
to the loss at the start."""

import os
import pathlib
import subprocess
import sys

SKIPPED = 77


def go_on_with_torch():
    """Starts this script again in the Python that has torch, or skips."""
    tool, python, *classes = sys.argv[1:]
    if not os.path.exists(python) or subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=120).returncode:
        print(f"skipped: {python} cannot import torch; `dev/setup test` mends that")
        sys.exit(SKIPPED)
    os.execv(python, [python, "-W", "ignore", __file__, tool, *classes])


if len(sys.argv) > 2 and os.sep in sys.argv[2]:
    go_on_with_torch()

import dataclasses
import itertools
import random
import unittest
import unittest.mock

import torch
from torch.nn.utils import prune
from torch.optim import swa_utils
from train_job import ROOT, TOOL, TrainJob, write_idx

sys.path.insert(0, str(ROOT / "bench" / "peers"))
import safetensors_file
import torch_models

LETTERS = "abcdefg"
RATE = 0.02
DECAY = 0.05
OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, RATE, weight_decay=DECAY),
    "momentum": lambda parameters: torch.optim.SGD(parameters, RATE, momentum=0.9, weight_decay=DECAY),
    "nesterov": lambda parameters: torch.optim.SGD(parameters, RATE, momentum=0.9, nesterov=True, weight_decay=DECAY),
    "adam": lambda parameters: torch.optim.Adam(parameters, RATE, weight_decay=DECAY),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, RATE, weight_decay=DECAY),
}


class ByFormula(torch.optim.Optimizer):
    """An optimizer that torch does not have, by its formula in cohort/optimizer.h."""

    def __init__(self, parameters, rate, change):
        super().__init__(parameters, {"lr": rate})
        self.rate, self.change, self.step_count = rate, change, 0

    @torch.no_grad()
    def step(self):
        self.step_count += 1
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                parameter -= self.rate * self.change(parameter, parameter.grad, state, self.step_count)


def averages(gradient, state, t):
    m = state["m"] = 0.9 * state.get("m", 0) + 0.1 * gradient
    v = state["v"] = 0.999 * state.get("v", 0) + 0.001 * gradient ** 2
    return m / (1 - 0.9 ** t), v / (1 - 0.999 ** t)


def lamb(p, g, state, t):
    m, v = averages(g, state, t)
    r = m / (v.sqrt() + 1e-6) + DECAY * p
    adapts = p.dim() > 1 and p.norm() > 0 and r.norm() > 0
    return r * p.norm() / r.norm() if adapts else r


def lars(p, g, state, t):
    adapts = p.dim() > 1 and p.norm() > 0 and g.norm() > 0
    phi = 0.5 * p.norm() / (g.norm() + DECAY * p.norm() + 1e-8) if adapts else 1
    state["m"] = 0.9 * state.get("m", 0) + phi * (g + DECAY * p)
    return state["m"]


def lion(p, g, state, t):
    m = state.get("m", torch.zeros_like(g))
    state["m"] = 0.99 * m + 0.01 * g
    return (0.9 * m + 0.1 * g).sign() + DECAY * p


class MuonAndAdamW:
    """As a user of torch trains with muon. Its iteration runs in f32 here, so that rounding does not hide mistakes."""

    def __init__(self, parameters, rate, **more):
        parameters = list(parameters)
        self.muon = torch.optim.Muon([p for p in parameters if p.dim() == 2], rate, weight_decay=DECAY, **more)
        self.adamw = torch.optim.AdamW([p for p in parameters if p.dim() != 2], rate, weight_decay=DECAY)

    def zero_grad(self):
        self.muon.zero_grad()
        self.adamw.zero_grad()

    def step(self):
        with unittest.mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            self.muon.step()
        self.adamw.step()


def of_torch(kind, rate, **more):
    return lambda parameters: kind(parameters, rate, weight_decay=DECAY, **more)


# For each case the settings in a job file and the optimizer of torch.
MORE = {
    "dampening": ({"name": "sgd", "dampening": 0.25, "learning_rate": RATE},
                  of_torch(torch.optim.SGD, RATE, momentum=0.9, dampening=0.25)),
    "maximize": ({"name": "adam", "maximize": True, "learning_rate": 0.002}, of_torch(torch.optim.Adam, 0.002, maximize=True)),
    "amsgrad": ({"name": "adam", "amsgrad": True, "learning_rate": RATE}, of_torch(torch.optim.Adam, RATE, amsgrad=True)),
    "adamw_amsgrad": ({"name": "adamw", "amsgrad": True, "learning_rate": 0.01}, of_torch(torch.optim.AdamW, 0.01, amsgrad=True)),
    "adagrad": ({"name": "adagrad", "learning_rate": RATE}, of_torch(torch.optim.Adagrad, RATE)),
    "adagrad_options": ({"name": "adagrad", "lr_decay": 0.01, "initial_accumulator_value": 0.1, "learning_rate": 0.05},
                        of_torch(torch.optim.Adagrad, 0.05, lr_decay=0.01, initial_accumulator_value=0.1)),
    "rmsprop": ({"name": "rmsprop", "learning_rate": 0.005}, of_torch(torch.optim.RMSprop, 0.005)),
    "rmsprop_options": ({"name": "rmsprop", "alpha": 0.9, "momentum": 0.5, "centered": True, "eps": 1e-4, "learning_rate": 0.001},
                        of_torch(torch.optim.RMSprop, 0.001, alpha=0.9, momentum=0.5, centered=True, eps=1e-4)),
    "adadelta": ({"name": "adadelta", "rho": 0.8, "learning_rate": 1.0}, of_torch(torch.optim.Adadelta, 1.0, rho=0.8)),
    "adamax": ({"name": "adamax", "learning_rate": RATE}, of_torch(torch.optim.Adamax, RATE)),
    "nadam": ({"name": "nadam", "learning_rate": RATE}, of_torch(torch.optim.NAdam, RATE)),
    "nadam_decoupled": ({"name": "nadam", "decoupled_weight_decay": True, "momentum_decay": 0.01, "learning_rate": 0.002},
                        of_torch(torch.optim.NAdam, 0.002, decoupled_weight_decay=True, momentum_decay=0.01)),
    "radam": ({"name": "radam", "learning_rate": RATE}, of_torch(torch.optim.RAdam, RATE)),
    "radam_decoupled": ({"name": "radam", "decoupled_weight_decay": True, "learning_rate": RATE},
                        of_torch(torch.optim.RAdam, RATE, decoupled_weight_decay=True)),
    "adafactor": ({"name": "adafactor", "learning_rate": 0.05}, of_torch(torch.optim.Adafactor, 0.05)),
    "adafactor_options": ({"name": "adafactor", "beta2_decay": -0.5, "eps": 1e-4, "eps2": 0.01, "d": 2.0, "learning_rate": RATE},
                          of_torch(torch.optim.Adafactor, RATE, beta2_decay=-0.5, eps=(1e-4, 0.01), d=2.0)),
    "muon": ({"name": "muon", "learning_rate": RATE}, lambda parameters: MuonAndAdamW(parameters, RATE)),
    "muon_options": ({"name": "muon", "match_rms_adamw": True, "nesterov": False, "ns_steps": 3, "momentum": 0.8, "learning_rate": RATE},
                     lambda parameters: MuonAndAdamW(parameters, RATE, adjust_lr_fn="match_rms_adamw", nesterov=False, ns_steps=3,
                                                     momentum=0.8)),
    "lamb": ({"name": "lamb", "learning_rate": RATE}, lambda parameters: ByFormula(parameters, RATE, lamb)),
    "lars": ({"name": "lars", "trust_coefficient": 0.5, "learning_rate": RATE}, lambda parameters: ByFormula(parameters, RATE, lars)),
    "lion": ({"name": "lion", "learning_rate": 0.002}, lambda parameters: ByFormula(parameters, 0.002, lion)),
}
# The same in a job file.
SETTINGS = {
    "sgd": {"name": "sgd", "momentum": 0.0},
    "momentum": {"name": "sgd", "momentum": 0.9},
    "nesterov": {"name": "sgd", "momentum": 0.9, "nesterov": True},
    "adam": {"name": "adam"},
    "adamw": {"name": "adamw"},
}


def batches_of(samples, size):
    """Endless batches of the samples in stored order; the last batch of an epoch may be shorter."""
    while True:
        for first in range(0, len(samples[0]), size):
            yield samples[0][first:first + size], samples[1][first:first + size]


def losses_of(spec, model, optimizer, samples, steps, size=None):
    """The loss before each step, with batches of `size` samples, or of all samples."""
    losses = []
    model.train()
    for input, target in itertools.islice(batches_of(samples, size or len(samples[0])), steps):
        optimizer.zero_grad()
        loss = torch_models.mean_loss(spec, model(input), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@dataclasses.dataclass
class Sums:
    """The length of the longest sum of a model, and the number of layers, each of which sums the results of the one before."""

    numbers: int
    layers: int

    def tolerance(self, step, first_loss):
        return 2 * self.layers * step * self.numbers ** 0.5 * 2 ** -24 * first_loss


class AgainstTorch(TrainJob):
    def setUp(self):
        super().setUp()
        torch.manual_seed(7)
        torch.set_num_threads(1)

    # Data sets, each as the [data] section of a job file and as a batch for PyTorch.

    def table(self, samples, features, classes):
        """A CSV file; its last column is a class, or a number if `classes` is 0."""
        x = torch.randn(samples, features)
        if classes:
            target = torch.arange(samples) % classes
            x[:, 0] += target
        else:
            target = x.sum(1) + 0.5
        path = self.folder / "data.csv"
        rows = [",".join(map(repr, row)) + f",{y!r}" for row, y in zip(x.tolist(), target.tolist())]
        path.write_text(",".join(f"x{i}" for i in range(features)) + ",y\n" + "\n".join(rows) + "\n")
        kind = "class" if classes else "number"
        return {"kind": "csv", "path": str(path), "target": kind, "test_share": 0.0}, (x, target)

    def images(self, samples, size, classes):
        pixels = random.Random(8).randbytes(samples * size * size)
        labels = [i % classes for i in range(samples)]
        write_idx(self.folder / "train-images-idx3-ubyte", [samples, size, size], pixels)
        write_idx(self.folder / "train-labels-idx1-ubyte", [samples], labels)
        x = torch.tensor(list(pixels), dtype=torch.float64).div(255).float().view(samples, 1, size, size)
        return ({"kind": "idx", "path": str(self.folder / "train-images-idx3-ubyte"), "test_share": 0.0},
                (x, torch.tensor(labels)))

    def text(self, samples, context):
        tokens = [random.Random(9).randrange(len(LETTERS)) for _ in range(7)]
        tokens = (tokens + list(range(len(LETTERS)))) * (samples + context)
        tokens = tokens[:samples + context]
        path = self.folder / "text.txt"
        path.write_text("".join(LETTERS[token] for token in tokens))
        windows = torch.tensor(tokens).unfold(0, context + 1, 1)
        return {"kind": "text", "path": str(path), "context": context, "stride": 1, "test_share": 0.0}, (windows[:, :-1], windows[:, 1:])

    def small_network(self):
        """A network that optimizers train, and its data: every batch is the whole data set."""
        self.data, self.batch = self.table(samples=61, features=5, classes=3)
        self.spec = torch_models.Spec("mlp", hidden=(11, 7), activation="tanh", input_shape=(5,), classes=3)
        self.start = torch_models.make_model(self.spec).state_dict()
        self.start = {name: tensor.clone() for name, tensor in self.start.items()}

    def model(self):
        model = torch_models.make_model(self.spec)
        model.load_state_dict(self.start)
        return model

    def job(self, settings, steps):
        return {"data": {**self.data, "shuffle": False}, "model": {"kind": "mlp", "hidden": [11, 7], "activation": "tanh"},
                "optimizer": {"learning_rate": RATE, **settings, "weight_decay": DECAY, "groups": ["*.bias: weight_decay=0"]},
                "train": {"batch_size": 0, "epochs": steps, "steps": steps, "evaluate_every": 0}}

    def assert_torch_goes_on(self, name, settings, make):
        """A snapshot with its optimizer goes on in Python as it would here."""
        self.train(self.job(settings, 20))
        ours = [line["loss"] for line in self.steps()][10:]
        self.train(self.job(settings, 10), "--set", "checkpoint.every=10 steps")
        file = self.folder / f"{name}.pt"
        subprocess.run([TOOL, "checkpoint", "convert", self.directory, file, "--to", "torch", "--with", "optimizer"], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        saved = torch.load(file, weights_only=True)
        self.assertEqual((saved["step"], saved["epoch"]), (10, 10))
        model = self.model()
        model.load_state_dict(saved["model_state_dict"])
        names = {name: parameter for name, parameter in model.named_parameters()}
        groups = [{"params": [names[name] for name in group["param_names"]]} for group in saved["optimizer_state_dict"]["param_groups"]]
        self.assertEqual(len(groups), 2)
        theirs = make(groups)
        theirs.load_state_dict(saved["optimizer_state_dict"])
        self.assert_close(ours, losses_of(self.spec, model, theirs, self.batch, 10), Optimizers.SUMS, name)

    def losses(self, data, spec, model, steps, optimizer, ranks, size=0, model_keys=None, **sections):
        """The losses of `cohort train`, started from the weights of `model`, with more keys and sections in the job file."""
        weights = {name: tensor for name, tensor in model.state_dict().items() if not name.endswith("num_batches_tracked")}
        file = self.folder / "start.safetensors"
        safetensors_file.write(file, weights)
        keys = {"kind": spec.kind, "initial": str(file), "channels_last": spec.channels_last, "activation": spec.activation,
                **(model_keys or {})}
        if spec.kind == "mlp":
            keys["hidden"] = list(spec.hidden)
        if spec.kind == "gpt":
            keys.update(layers=spec.layers, width=spec.width, heads=spec.heads)
        self.train({"data": {**data, "shuffle": False}, "model": keys,
                    "optimizer": {"learning_rate": RATE, **SETTINGS.get(optimizer, MORE.get(optimizer, [{}])[0]), "weight_decay": DECAY},
                    "train": {"batch_size": size, "epochs": steps, "steps": steps, "evaluate_every": 0}, **sections}, ranks=ranks)
        return [line["loss"] for line in self.steps()]

    def assert_close(self, ours, theirs, sums, what):
        self.assertEqual(len(ours), len(theirs))
        for step, (a, b) in enumerate(zip(ours, theirs), 1):
            self.assertLessEqual(abs(a - b), sums.tolerance(step, theirs[0]), f"{what}, step {step}: {a} and {b}")


class Optimizers(AgainstTorch):
    SUMS = Sums(61 * 11, 3)

    def setUp(self):
        super().setUp()
        self.small_network()

    def theirs(self, optimizer, size=None):
        model = self.model()
        return losses_of(self.spec, model, OPTIMIZERS[optimizer](model.parameters()), self.batch, 100, size)

    def test_batches(self):
        """Full batches, mini-batches of 16 whose last one has 13, and single samples: the same code with another batch size."""
        for size in (61, 16, 1):
            theirs = self.theirs("momentum", size)
            for ranks in (1, 2):
                ours = self.losses(self.data, self.spec, self.model(), 100, "momentum", ranks, size)
                self.assert_close(ours, theirs, self.SUMS, f"batches of {size} on {ranks} ranks")

    def test_optimizers_are_told_apart(self):
        """The curves of two optimizers differ by more than the tolerance, so the tests above notice a wrong optimizer."""
        curves = {optimizer: self.theirs(optimizer) for optimizer in OPTIMIZERS}
        for a in OPTIMIZERS:
            for b in OPTIMIZERS:
                if a < b:
                    apart = max(abs(x - y) / self.SUMS.tolerance(step, curves[a][0])
                                for step, (x, y) in enumerate(zip(curves[a], curves[b]), 1))
                    self.assertGreater(apart, 10, (a, b))


    def test_torch_goes_on(self):
        for optimizer in ("momentum", "adam", "adamw"):
            self.assert_torch_goes_on(optimizer, SETTINGS[optimizer], OPTIMIZERS[optimizer])


def follows(optimizer):
    def test(self):
        theirs = self.theirs(optimizer)
        self.assertLess(theirs[-1], theirs[0])
        for ranks in (1, 3):
            ours = self.losses(self.data, self.spec, self.model(), 100, optimizer, ranks)
            self.assert_close(ours, theirs, self.SUMS, f"{optimizer} on {ranks} ranks")
    return test


for name in OPTIMIZERS:
    setattr(Optimizers, f"test_{name}", follows(name))


def losses_of_case(test, case):
    """The losses of torch, by a test that has the small network."""
    model = test.model()
    return losses_of(test.spec, model, MORE[case][1](model.parameters()), test.batch, 100)


class MoreOptimizers(AgainstTorch):
    """Optimizers that update every element by itself."""

    def setUp(self):
        super().setUp()
        self.small_network()

    def test_cases_are_told_apart(self):
        curves = {case: losses_of_case(self, case) for case in MORE}
        for a, b in itertools.combinations(MORE, 2):
            apart = max(abs(x - y) / Optimizers.SUMS.tolerance(step, curves[a][0])
                        for step, (x, y) in enumerate(zip(curves[a], curves[b]), 1))
            self.assertGreater(apart, 2, (a, b))


class TensorOptimizers(AgainstTorch):
    """Optimizers that need norms or whole tensors."""

    def setUp(self):
        super().setUp()
        self.small_network()

    def test_torch_goes_on(self):
        self.assert_torch_goes_on("adafactor", *MORE["adafactor"])


def follows_case(case):
    def test(self):
        theirs = losses_of_case(self, case)
        self.assertLess(*(theirs[0], theirs[-1]) if case == "maximize" else (theirs[-1], theirs[0]))
        for ranks in (1, 3):
            ours = self.losses(self.data, self.spec, self.model(), 100, case, ranks)
            self.assert_close(ours, theirs, Optimizers.SUMS, f"{case} on {ranks} ranks")
    return test


for name in MORE:
    needs_tensors = name.startswith(("lamb", "lars", "adafactor", "muon"))
    setattr(TensorOptimizers if needs_tensors else MoreOptimizers, f"test_{name}", follows_case(name))


class Models(AgainstTorch):
    def compare(self, spec, source, width, layers, steps=100, ranks=(1, 2)):
        data, batch = source
        for world in ranks:
            torch.manual_seed(11)
            model = torch_models.make_model(spec)
            ours = self.losses(data, spec, model, steps, "momentum", world)
            theirs = losses_of(spec, model, OPTIMIZERS["momentum"](model.parameters()), batch, steps)
            self.assertNotEqual(theirs[0], theirs[-1])
            self.assert_close(ours, theirs, Sums(len(batch[0]) * width, layers), f"{spec.kind} on {world} ranks")

    def test_linear(self):
        self.compare(torch_models.Spec("linear", input_shape=(5,), outputs=1), self.table(37, 5, 0), 5, 1)

    def test_logistic(self):
        self.compare(torch_models.Spec("logistic", input_shape=(5,), classes=2), self.table(37, 5, 2), 5, 1)

    def test_softmax(self):
        self.compare(torch_models.Spec("softmax", input_shape=(5,), classes=4), self.table(37, 5, 4), 5, 1)

    def test_mlp(self):
        for activation in ("relu", "gelu", "tanh"):
            spec = torch_models.Spec("mlp", hidden=(17, 9), activation=activation, input_shape=(5,), classes=4)
            self.compare(spec, self.table(37, 5, 4), 17, 3)

    def test_lenet(self):
        for channels_last in (False, True):
            spec = torch_models.Spec("lenet", input_shape=(1, 12, 12), classes=4, channels_last=channels_last)
            self.compare(spec, self.images(21, 12, 4), 32 * 25, 4)

    def test_resnet18(self):
        # Batch norm computes its statistics per micro-batch, so one rank with one micro-batch. Every convolution is followed by the sums of a norm.
        spec = torch_models.Spec("resnet18", input_shape=(1, 16, 16), classes=4, channels_last=True)
        self.compare(spec, self.images(8, 16, 4), 512 * 9, 36, ranks=(1,))

    def test_gpt(self):
        spec = torch_models.Spec("gpt", layers=2, width=12, heads=3, input_shape=(9,), vocabulary=len(LETTERS), context=9)
        self.compare(spec, self.text(23, 9), 9 * 48, 10)


def warmed_up(average, parameter, n):
    decay = min(0.99, (1 + n) / (10 + n))
    return decay * average + (1 - decay) * parameter


class PostSteps(AgainstTorch):
    """Averages as those of torch.optim.swa_utils, masks as those of torch.nn.utils.prune.

    The weights of both sides differ by less than their losses may: a weight moves by at most the learning rate in a step, and its
    rounding errors with it."""

    STEPS = 40
    SUMS = Sums(61 * 11, 3)
    # Keys of [average], the average of torch, and the updates that it takes in.
    AVERAGES = [
        ({"kind": "ema", "decay": 0.9}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)}, range(1, 41)),
        ({"kind": "ema", "decay": 0.99, "warmup": True}, {"avg_fn": warmed_up}, range(1, 41)),
        ({"kind": "swa", "start": 10, "every": 5}, {}, range(10, 41, 5)),
        ({"kind": "ema", "decay": 0.7, "every": 3}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.7)}, range(3, 41, 3)),
    ]

    def setUp(self):
        super().setUp()
        self.data, self.batch = self.table(samples=61, features=5, classes=3)
        self.spec = torch_models.Spec("mlp", hidden=(11, 7), activation="tanh", input_shape=(5,), classes=3)

    def model(self, spec=None):
        torch.manual_seed(7)
        return torch_models.make_model(spec or self.spec)

    def saved(self, name):
        return safetensors_file.read(self.directory / f"{name}.safetensors")[0]

    def farthest(self, ours, theirs):
        self.assertEqual(set(ours), set(theirs))
        return max((ours[name].double() - theirs[name].double()).abs().max().item() for name in ours)

    def theirs(self, average, updates):
        model = self.model()
        averaged = swa_utils.AveragedModel(model, **average)
        optimizer = OPTIMIZERS["adamw"](model.parameters())
        for step in range(1, self.STEPS + 1):
            losses_of(self.spec, model, optimizer, self.batch, 1)
            if step in updates:
                averaged.update_parameters(model)
        self.assertEqual(averaged.n_averaged.item(), len(updates))
        return {name: tensor.detach() for name, tensor in averaged.module.named_parameters()}

    def test_averages(self):
        tolerance = self.SUMS.tolerance(self.STEPS, 1.2) / 4
        for keys, average, updates in self.AVERAGES:
            theirs = self.theirs(average, updates)
            for ranks in (1, 2, 3):
                self.losses(self.data, self.spec, self.model(), self.STEPS, "adamw", ranks, average=keys)
                self.assertLess(self.farthest(self.saved("average"), theirs), tolerance, (keys, ranks))
                self.assertGreater(self.farthest(self.saved("last"), theirs), 10 * tolerance, "or nothing was tested")

    def test_batch_norm(self):
        """update_bn() of torch, with a batch of 64 samples and one of 7, finds the same statistics for the averages that were written."""
        spec = torch_models.Spec("resnet18", input_shape=(1, 16, 16), classes=4, channels_last=True)
        data, (x, target) = self.images(71, 16, 4)
        for ranks in (1, 2):
            self.losses(data, spec, self.model(spec), 3, "sgd", ranks, size=33, average={"kind": "swa", "update_bn": True},
                        model_keys={"batch_norm": "local" if ranks == 1 else "synchronised"})
            ours, last = self.saved("average"), self.saved("last")
            model = self.model(spec)
            model.load_state_dict(ours, strict=False)
            swa_utils.update_bn([x[:64], x[64:]], model)
            theirs = model.state_dict()
            for name in (name for name in ours if "running" in name):
                size = theirs[name].abs().max()
                self.assertLess((ours[name] - theirs[name]).abs().max(), 1e-3 * size, name)
                self.assertGreater((last[name] - theirs[name]).abs().max(), 0.1 * size, name)

    def test_masks(self):
        model = self.model()
        layers = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
        for layer in layers:
            prune.l1_unstructured(layer, "weight", amount=0.5)
        losses_of(self.spec, model, OPTIMIZERS["adamw"](model.parameters()), self.batch, self.STEPS)
        for layer in layers:
            prune.remove(layer, "weight")
        theirs = {name: tensor.detach() for name, tensor in model.named_parameters()}
        tolerance = self.SUMS.tolerance(self.STEPS, 1.2) / 4
        for ranks in (1, 3):
            self.losses(self.data, self.spec, self.model(), self.STEPS, "adamw", ranks, mask={"sparsity": 0.5})
            ours = self.saved("last")
            self.assertLess(self.farthest(ours, theirs), tolerance, ranks)
            for name, tensor in theirs.items():
                self.assertTrue(torch.equal(ours[name] == 0, tensor == 0), name)

    def test_a_snapshot_still_goes_to_torch(self):
        self.losses(self.data, self.spec, self.model(), 5, "adamw", 2, average={"kind": "ema"}, mask={"sparsity": 0.5},
                    checkpoint={"every": "5 steps"})
        file = self.folder / "snapshot.pt"
        subprocess.run([TOOL, "checkpoint", "convert", self.directory, file, "--to", "torch", "--with", "optimizer"], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        saved = torch.load(file, weights_only=True)
        model = self.model()
        model.load_state_dict(saved["model_state_dict"])
        for state in saved["optimizer_state_dict"]["state"].values():
            self.assertEqual(set(state), {"step", "exp_avg", "exp_avg_sq"})


if __name__ == "__main__":
    unittest.main()

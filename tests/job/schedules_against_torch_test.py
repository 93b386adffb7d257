"""The schedules of job files have the learning rates and the momentum of torch.optim.lr_scheduler, step by step.

Usage: schedules_against_torch_test.py RATES PYTHON; RATES prints the steps of a schedule, PYTHON is an interpreter that may have
torch; without torch all tests are skipped.

Both sides compute in double. torch multiplies the learning rate of the step before where ours is a function of the step, so its
rounding errors add up over a few hundred steps: numbers differ by less than 1e-12 of themselves."""

import os
import subprocess
import sys

SKIPPED = 77


def go_on_with_torch():
    """Starts this script again in the Python that has torch, or skips."""
    rates, python = sys.argv[1:3]
    if not os.path.exists(python) or subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=120).returncode:
        print(f"skipped: {python} cannot import torch; `dev/setup test` mends that")
        sys.exit(SKIPPED)
    os.execv(python, [python, "-W", "ignore", __file__, rates])


if len(sys.argv) == 3:
    go_on_with_torch()

import math
import random
import unittest

import torch
from torch.optim import lr_scheduler as lr

RATES = sys.argv.pop(1)
RATE = 0.3
STEPS = 300
CLOSE = 1e-12


class Ours:
    """A process that prints learning rates, for all tests."""

    process = None

    @classmethod
    def rates(cls, *settings, steps=STEPS, losses=()):
        """(learning rate, momentum or -1) of every step."""
        if cls.process is None:
            cls.process = subprocess.Popen([RATES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        fields = [str(steps), f"optimizer.learning_rate={RATE}", *(f"schedule.{setting}" for setting in settings)]
        fields += ["losses " + " ".join(map(repr, losses))] if losses else []
        cls.process.stdin.write("\t".join(fields) + "\n")
        cls.process.stdin.flush()
        lines = [cls.process.stdout.readline() for _ in range(steps)]
        assert all(lines), f"schedule_rates ended: {settings}"
        return [tuple(map(float, line.split())) for line in lines]


def tearDownModule():
    if Ours.process is not None:
        Ours.process.communicate(timeout=60)


def sgd():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], RATE, momentum=0.9)


def adam():
    return torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], RATE)


def theirs(make, optimizer=None, steps=STEPS):
    optimizer = optimizer or sgd()
    scheduler = make(optimizer)
    seen = []
    for _ in range(steps):
        group = optimizer.param_groups[0]
        seen.append((group["lr"], group["betas"][0] if "betas" in group else group["momentum"]))
        optimizer.step()
        scheduler.step()
    return seen


class AgainstTorch(unittest.TestCase):
    def compare(self, settings, make, steps=STEPS, momentum=False, optimizer=None):
        found, expected = Ours.rates(*settings, steps=steps), theirs(make, optimizer, steps)
        self.assertEqual(len(found), steps)
        for step, (a, b) in enumerate(zip(found, expected)):
            self.assertLessEqual(abs(a[0] - b[0]), CLOSE * abs(b[0]), f"{settings}, step {step}: {a[0]!r} and {b[0]!r}")
            if momentum:
                self.assertLessEqual(abs(a[1] - b[1]), CLOSE, f"momentum of {settings}, step {step}")
            else:
                self.assertEqual(a[1], -1)
        self.assertGreater(len({rate for rate, _ in found}), 1)

    def test_step(self):
        for size, gamma in ((30, 0.1), (1, 0.97), (7, 0.5)):
            self.compare(("name=step", f"step_size={size}", f"gamma={gamma}"), lambda o: lr.StepLR(o, size, gamma))

    def test_multi_step(self):
        for milestones in ([30, 80], [1, 2, 3, 299], [150]):
            self.compare(("name=multi-step", f"milestones={milestones}", "gamma=0.3"), lambda o: lr.MultiStepLR(o, milestones, 0.3))

    def test_exponential(self):
        self.compare(("name=exponential", "step_size=1", "gamma=0.98"), lambda o: lr.ExponentialLR(o, 0.98))

    def test_polynomial(self):
        for power in (1.0, 2.0, 0.5):
            self.compare(("name=polynomial", f"power={power}", "total_steps=400"), lambda o: lr.PolynomialLR(o, 400, power))

    def test_cosine(self):
        for t_max, eta_min in ((300, 0.001), (300, 0.03), (311, 0.0), (1000, 0.0)):
            self.compare(("name=cosine", f"t_max={t_max}", f"eta_min={eta_min}"), lambda o: lr.CosineAnnealingLR(o, t_max, eta_min))

    def test_cosine_restarts(self):
        for t_0, t_mult, eta_min in ((10, 1, 0.0), (7, 2, 0.01), (13, 3, 0.001), (1, 2, 0.0)):
            self.compare(("name=cosine-restarts", f"t_0={t_0}", f"t_mult={t_mult}", f"eta_min={eta_min}"),
                         lambda o: lr.CosineAnnealingWarmRestarts(o, t_0, t_mult, eta_min))

    def test_one_cycle(self):
        for pct_start in (0.3, 0.1, 0.45):
            for strategy in ("cos", "linear"):
                for three_phase in (False, True):
                    for optimizer in (sgd, adam):
                        settings = ("name=one-cycle", f"total_steps={STEPS}", f"pct_start={pct_start}", f"anneal_strategy={strategy}",
                                    f"three_phase={str(three_phase).lower()}", "base_momentum=0.8", "max_momentum=0.9", "div_factor=10",
                                    "final_div_factor=100")
                        self.compare(settings, lambda o: lr.OneCycleLR(
                            o, RATE, STEPS, pct_start=pct_start, anneal_strategy=strategy, three_phase=three_phase, base_momentum=0.8,
                            max_momentum=0.9, div_factor=10, final_div_factor=100), momentum=True, optimizer=optimizer())
        self.compare(("name=one-cycle", "cycle_momentum=false"), lambda o: lr.OneCycleLR(o, RATE, STEPS, cycle_momentum=False))
        self.compare(("name=one-cycle",), lambda o: lr.OneCycleLR(o, RATE, STEPS), momentum=True)

    def test_inverse_square_root(self):
        self.compare(("name=inverse-sqrt", "timescale=40"), lambda o: lr.LambdaLR(o, lambda t: math.sqrt(40 / (t + 40))))

    def test_stable_decay(self):
        def decay(shape):
            def factor(t):
                x = max(0, t - 200) / 110
                return {"linear": 1 - x, "cosine": (1 + math.cos(math.pi * x)) / 2, "1-sqrt": 1 - math.sqrt(x)}[shape]
            return factor
        for shape in ("linear", "cosine", "1-sqrt"):
            self.compare(("name=wsd", "total_steps=310", "decay_steps=110", f"decay={shape}"), lambda o: lr.LambdaLR(o, decay(shape)))

    def test_warm_up(self):
        """Before a cosine; torch's warm-up goes on at the step where the next schedule begins."""
        def before(warm, curve):
            return lambda o: lr.SequentialLR(o, [warm(o), curve(o)], [20])
        cosine = ("name=cosine", "t_max=300", "eta_min=0.01", "warmup_steps=20")
        self.compare((*cosine, "warmup_start_factor=0.1"),
                     before(lambda o: lr.LinearLR(o, 0.1, 1.0, 20), lambda o: lr.CosineAnnealingLR(o, 300, 0.01)))
        self.compare((*cosine, "warmup=constant"), before(lambda o: lr.ConstantLR(o, 1 / 3, 20), lambda o: lr.CosineAnnealingLR(o, 300, 0.01)))
        self.compare((*cosine, "warmup=constant", "warmup_start_factor=0.2"),
                     before(lambda o: lr.ConstantLR(o, 0.2, 20), lambda o: lr.CosineAnnealingLR(o, 300, 0.01)))
        self.compare(("name=constant", "warmup_steps=20", "warmup=exponential", "warmup_start_factor=0.05"),
                     lambda o: lr.LambdaLR(o, lambda s: 0.05 ** max(0, 1 - s / 20)))
        self.compare(("name=constant", "warmup_steps=20"), lambda o: lr.LambdaLR(o, lambda s: min(1, (s + 1) / 20)))


class Plateaus(unittest.TestCase):
    def history(self, losses, **options):
        optimizer = sgd()
        scheduler = lr.ReduceLROnPlateau(optimizer, **options)
        seen = []
        for loss in losses:
            seen.append(optimizer.param_groups[0]["lr"])
            scheduler.step(loss)
        return seen

    def test_random_losses(self):
        """The same bits as ReduceLROnPlateau for any losses and settings."""
        draw = random.Random(19)
        reductions = 0
        for _ in range(60):
            falling = draw.choice((0.0, 0.01, 0.05))
            losses = [2 * math.exp(-falling * t) * draw.uniform(0.7, 1.3) for t in range(STEPS)]
            for special in (math.nan, math.inf):
                if draw.random() < 0.3:
                    losses[draw.randrange(STEPS)] = special
            options = {"factor": draw.choice((0.1, 0.5, 0.9)), "patience": draw.randrange(6), "cooldown": draw.randrange(4),
                       "threshold": draw.choice((1e-4, 0.01, 0.2)), "threshold_mode": draw.choice(("rel", "abs")),
                       "min_lr": draw.choice((0.0, 0.001, 0.1)), "eps": draw.choice((1e-8, 1e-3))}
            found = [rate for rate, _ in Ours.rates("name=plateau", *(f"{key}={value}" for key, value in options.items()), losses=losses)]
            self.assertEqual(found, self.history(losses, **options), options)
            reductions += len(set(found)) - 1
        self.assertGreater(reductions, 60)


if __name__ == "__main__":
    unittest.main()

"""Steps of an optimizer of torch: the peer of `cohort bench optimizers`.

It greets the controller whose socket COHORT_BENCH_CONTROL names and runs the steps that the controller asks for;
tools/measure/protocol.h documents the messages. Parameters, gradients and moments are files that the processes share. An optimizer or a form that torch does not have is answered as unsupported.
"""

import argparse
import inspect
import math
import os
import socket
import sys
import time
import warnings

warnings.filterwarnings("ignore", message=".*NumPy.*")
try:
    import torch
except ImportError as error:
    sys.exit(f"the Python torch cannot be loaded: {error}")

FORMS = {"fused": {"fused": True}, "foreach": {"foreach": True}, "loop": {"foreach": False}}
LEARNING_RATE = 1e-6
SETTINGS = {"sgd": {"momentum": 0.9}, "adamw": {"weight_decay": 0}, "muon": {"weight_decay": 0}}  # where torch has another default than Cohort


class Unsupported(Exception):
    pass


def make_optimizer(name, form, parameters):
    classes = {kind.lower(): getattr(torch.optim, kind) for kind in torch.optim.__all__ if isinstance(getattr(torch.optim, kind, None), type)}
    if name not in classes:
        raise Unsupported(f"torch.optim has no {name}")
    form_settings = FORMS[form]
    if form == "loop" and "foreach" not in inspect.signature(classes[name]).parameters:
        form_settings = {}  # as muon, which has no other form
    try:
        return classes[name](parameters, lr=LEARNING_RATE, **SETTINGS.get(name, {}), **form_settings)
    except (TypeError, RuntimeError) as error:
        raise Unsupported(f"torch.optim has no {form} {name}: {error}") from error


class Work:
    def __init__(self, options):
        self.folder, self.elements = options.folder, options.elements
        self.rows = math.gcd(options.elements, 256)  # as the matrix of ours
        self.parameter = torch.nn.Parameter(self.shared("parameters"))
        self.optimizer = make_optimizer(options.optimizer, options.form, [self.parameter])
        self.parameter.grad = self.shared("gradients")
        self.moments_are_shared = False

    def shared(self, name):
        return torch.from_file(f"{self.folder}/{name}", shared=True, size=self.elements).view(self.rows, -1)

    def share_moments(self):
        """After the first step, which made them."""
        if self.moments_are_shared:
            return
        self.moments_are_shared = True
        state = self.optimizer.state[self.parameter]
        for name, value in state.items():
            if torch.is_tensor(value) and value.shape == self.parameter.shape and os.path.exists(f"{self.folder}/{name}"):
                state[name] = self.shared(name)

    def step(self):
        start = time.monotonic_ns()
        self.optimizer.step()
        end = time.monotonic_ns()
        self.share_moments()
        return start, end


def one_line(error):
    return " ".join(str(error).split())[:2000]


def answer(work, line):
    words = line.split()
    if len(words) != 2 or words[0] != "steps":
        return "unsupported only 'steps N' is understood"
    try:
        if isinstance(work, Unsupported):
            raise work
        taken = [work.step() for _ in range(int(words[1]))]
        if not torch.isfinite(work.parameter).all():
            return "failed a parameter is not finite"
    except Unsupported as error:
        return f"unsupported {one_line(error)}"
    except Exception as error:  # the controller reports every failure
        return f"failed {type(error).__name__}: {one_line(error)}"
    return "times " + " ".join(f"{start}:{end}" for start, end in taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group")
    parser.add_argument("optimizer")
    parser.add_argument("form", choices=sorted(FORMS))
    parser.add_argument("elements", type=int)
    parser.add_argument("folder", help="where the arrays are files: parameters, gradients, and moments by their names")
    options = parser.parse_args()
    torch.set_num_threads(1)
    try:
        work = Work(options)
    except Unsupported as error:
        work = error
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.connect("\0" + os.environ["COHORT_BENCH_CONTROL"])
        control.sendall(f"hello {options.group} 0 1\n".encode())
        for line in control.makefile("r"):
            if line.strip() == "end":
                break
            control.sendall((answer(work, line) + "\n").encode())


if __name__ == "__main__":
    main()

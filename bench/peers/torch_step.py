"""Trains a model of torch_models.py for some steps and prints the time of each: the peer of `cohort bench step`.

Prints a JSON line {"step", "loss", "ms"} after each step and a final object. With --ddp the process is one of
several ranks: RANK and WORLD_SIZE are its identity, MASTER_ADDR and MASTER_PORT, or --meeting, the rendezvous. A step then begins
with a barrier that is not timed, and every rank prints its own lines.

With --serve the process is a participant of `cohort bench step`: it greets the controller whose socket COHORT_BENCH_CONTROL names
and runs the steps that the controller asks for; tools/measure/protocol.h documents the messages.

Data of --data: tensors "inputs" and "targets" with the step as first dimension and samples as second; after the last step the
first follows again. With --ddp each rank takes its share of the samples. Without --data every rank makes --batch samples.
"""

import argparse
import contextlib
import json
import math
import os
import resource
import socket
import sys
import time
import warnings

warnings.filterwarnings("ignore", message=".*NumPy.*")
try:
    import torch
    import torch.distributed as dist
except ImportError as error:
    sys.exit(f"the Python torch cannot be loaded: {error}")

import safetensors_file
import torch_models


def seconds_since_start():
    """Seconds since the kernel started this process, including the interpreter and its imports."""
    with open("/proc/self/stat", encoding="ascii") as file:
        ticks = int(file.read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, choices=sorted(torch_models.BENCH))
    parser.add_argument("--spec", help="JSON object that overrides what the model is made of, such as {\"hidden\": [64]}")
    parser.add_argument("--batch", type=int, default=8, help="samples of this rank in a step")
    parser.add_argument("--optimizer", default="sgd", choices=["sgd", "adam", "adamw"])
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--nesterov", action="store_true")
    parser.add_argument("--betas", type=float, nargs=2, default=(0.9, 0.999))
    parser.add_argument("--eps", type=float, default=1e-8)
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weights", help="safetensors file with the initial parameters")
    parser.add_argument("--data", help="safetensors file with inputs and targets of each step")
    parser.add_argument("--write-weights", help="safetensors file for the final parameters (rank 0)")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"], help="bf16: forward and loss under autocast")
    parser.add_argument("--ddp", action="store_true")
    parser.add_argument("--serve", metavar="GROUP", help="make steps as the controller of a bench asks for them")
    parser.add_argument("--meeting", help="a file, not there yet, by which the ranks of --ddp find each other")
    return parser.parse_args(arguments)


def spec_of(options):
    spec = torch_models.BENCH[options.model]
    for key, value in json.loads(options.spec or "{}").items():
        if not hasattr(spec, key):
            sys.exit(f"--spec: a model has no '{key}'")
        setattr(spec, key, tuple(value) if isinstance(value, list) else value)
    spec.channels_last = spec.channels_last or options.channels_last
    return spec


def load_weights(model, path):
    """By name: every parameter must be there; buffers that are not stay as they are."""
    tensors, _ = safetensors_file.read(path)
    missing = [name for name, _ in model.named_parameters() if name not in tensors]
    if missing:
        sys.exit(f"{path} has no {', '.join(missing)}")
    model.load_state_dict({name: tensors[name] for name in model.state_dict() if name in tensors}, strict=False)


def optimizer_of(options, parameters):
    common = {"lr": options.lr, "weight_decay": options.weight_decay, "fused": True}
    if options.optimizer in ("adam", "adamw"):
        optimizer = torch.optim.Adam if options.optimizer == "adam" else torch.optim.AdamW
        return optimizer(parameters, betas=tuple(options.betas), eps=options.eps, **common)
    return torch.optim.SGD(parameters, momentum=options.momentum, nesterov=options.nesterov, **common)


class Batches:
    """The batch of each step, this rank's share of it."""

    def __init__(self, options, spec, rank, world):
        if options.data:
            tensors, _ = safetensors_file.read(options.data)
            samples = tensors["inputs"].shape[1]
            if samples % world:
                sys.exit(f"{samples} samples cannot be shared evenly by {world} ranks: the mean of means would be wrong")
            mine = slice(samples * rank // world, samples * (rank + 1) // world)
            self.inputs, self.targets = tensors["inputs"][:, mine], tensors["targets"][:, mine]
        else:
            generator = torch.Generator().manual_seed(options.seed * 1000 + rank)
            batch = torch_models.random_batch(spec, options.batch, generator)
            self.inputs, self.targets = (tensor.unsqueeze(0) for tensor in batch)
        self.channels_last = spec.channels_last

    def __getitem__(self, step):
        x = self.inputs[step % len(self.inputs)]
        if self.channels_last and x.dim() == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        return x, self.targets[step % len(self.targets)]


@contextlib.contextmanager
def process_group(options):
    """Yields (rank, world)."""
    if not options.ddp:
        yield 0, 1
        return
    if options.meeting:
        dist.init_process_group("gloo", init_method=f"file://{os.path.abspath(options.meeting)}",
                                rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    else:
        dist.init_process_group("gloo")
    yield dist.get_rank(), dist.get_world_size()
    dist.destroy_process_group()


def say(thing):
    print(json.dumps(thing), flush=True)


class Training:
    """Model, data and optimizer, and how many steps were made."""

    def __init__(self, options, rank, world):
        torch.manual_seed(options.seed)
        self.options, self.spec, self.done = options, spec_of(options), 0
        self.model = torch_models.make_model(self.spec)
        if options.weights:
            load_weights(self.model, options.weights)
        self.batches = Batches(options, self.spec, rank, world)
        self.trained = torch.nn.parallel.DistributedDataParallel(self.model) if options.ddp else self.model
        self.optimizer = optimizer_of(options, self.model.parameters())

    def step(self):
        """Returns (loss, start, end), in nanoseconds of the monotonic clock."""
        x, target = self.batches[self.done]
        if self.options.ddp:
            dist.barrier()
        start = time.monotonic_ns()
        self.optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.options.precision == "bf16"):
            loss = torch_models.mean_loss(self.spec, self.trained(x), target)
        loss.backward()
        self.optimizer.step()
        end = time.monotonic_ns()
        self.done += 1
        return loss.detach(), start, end


def serve_steps(training, line):
    words = line.split()
    if len(words) != 2 or words[0] != "steps":
        return "unsupported only 'steps N' is understood"
    try:
        taken = [training.step() for _ in range(int(words[1]))]
    except Exception as error:  # the controller reports every failure
        return " ".join(f"failed {type(error).__name__}: {error}".split())[:2000]
    if not math.isfinite(taken[-1][0].item()):
        return "failed the loss is not finite"
    return "times " + " ".join(f"{start}:{end}" for _, start, end in taken)


def serve(options, rank, world):
    training = Training(options, rank, world)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.connect("\0" + os.environ["COHORT_BENCH_CONTROL"])
        lines = control.makefile("r")
        control.sendall(f"hello {options.serve} {rank} {world}\n".encode())
        for line in lines:
            if line.strip() == "end":
                break
            control.sendall((serve_steps(training, line) + "\n").encode())


def train(options, rank, world):
    training = Training(options, rank, world)
    model, first_step_seconds = training.model, None
    for step in range(options.steps):
        loss, start, end = training.step()
        if first_step_seconds is None:
            first_step_seconds = seconds_since_start()
        if options.ddp:  # the loss of the whole batch
            dist.all_reduce(loss)
            loss /= world
        say({"step": step + 1, "loss": loss.item(), "ms": round((end - start) / 1e6, 4)})
    if options.write_weights and rank == 0:
        safetensors_file.write(options.write_weights, dict(model.named_parameters()))
    say({
        "model": options.model, "rank": rank, "world": world, "steps": options.steps, "torch": torch.__version__,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "first_step_seconds": first_step_seconds,
    })


def main():
    options = options_of(sys.argv[1:])
    torch.set_num_threads(options.threads)
    with process_group(options) as (rank, world):
        (serve if options.serve else train)(options, rank, world)
    # Threads of Gloo may still run when the interpreter unloads their library, which aborts the process now and then.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

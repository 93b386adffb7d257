"""cohort::GradScaler has the scales and skipped steps of torch.amp.GradScaler for the same overflows.

Usage: grad_scaler_test.py GRAD_SCALER_HISTORY PYTHON; PYTHON is one that may have torch. Without it: skipped.
"""

import os
import random
import subprocess
import sys

SKIPPED = 77
NUM_CASES = 200
LIMIT = 120


def go_on_with_torch(python):
    if not os.path.exists(python) or subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=LIMIT).returncode:
        print(f"skipped: {python} cannot import torch; `dev/setup test` mends that")
        sys.exit(SKIPPED)
    os.execv(python, [python, "-W", "ignore", __file__, sys.argv[1], "with-torch"])


def history_of(torch, case):
    init, growth, backoff, interval, letters = case
    scaler = torch.amp.GradScaler("cpu", init_scale=init, growth_factor=growth, backoff_factor=backoff, growth_interval=interval)
    value = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([value], lr=0.001)
    made = []
    optimizer.register_step_post_hook(lambda *_: made.append(True))
    history = []
    for letter in letters:
        scaler.scale(torch.ones(()))  # makes the scale
        value.grad = torch.ones(2)
        if letter == "i":
            value.grad[1] = -float("inf")
        if letter == "n":
            value.grad[0] = float("nan")
        made.clear()
        scaler.step(optimizer)
        scaler.update()
        history.append((scaler.get_scale(), bool(made)))
    return history


def random_case(generator):
    share = generator.choice([0.02, 0.2, 0.6])
    letters = "".join(generator.choice("in") if generator.random() < share else "." for _ in range(generator.randint(1, 90)))
    return (generator.choice([65536.0, 1.0, 3.0, 2.0**120]), generator.choice([2.0, 1.3, 10.0]), generator.choice([0.5, 0.1, 0.77]),
            generator.randint(1, 7), letters)


def main():
    import torch

    generator = random.Random(19)
    cases = [random_case(generator) for _ in range(NUM_CASES)]
    text = "".join(f"{init!r} {growth!r} {backoff!r} {interval} {letters}\n" for init, growth, backoff, interval, letters in cases)
    out = subprocess.run([sys.argv[1]], input=text, check=True, capture_output=True, text=True, timeout=LIMIT).stdout
    lines = out.splitlines()
    assert len(lines) == NUM_CASES, f"{len(lines)} histories of {NUM_CASES}"
    num_skipped = 0
    for case, line in zip(cases, lines):
        words = line.split()
        ours = [(float.fromhex(scale), made == "made") for scale, made in zip(words[::2], words[1::2])]
        expected = history_of(torch, case)
        assert ours == expected, f"{case}: {ours}, in Python {expected}"
        num_skipped += sum(not made for _, made in ours)
    assert num_skipped > NUM_CASES
    print(f"{NUM_CASES} histories are equal, {num_skipped} skipped steps among them")


if __name__ == "__main__":
    if sys.argv[2] != "with-torch":
        go_on_with_torch(sys.argv[2])
    main()

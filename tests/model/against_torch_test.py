"""Every kind of model gives the outputs, losses and gradients of the same model in Python.

Usage: against_torch_test.py WRITE_MODEL_CASE PYTHON; PYTHON is one that may have torch. Without it: skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
PEERS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"
LIMIT = 120


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, timeout=LIMIT, **more).stdout


def go_on_with_torch(python):
    """Starts this script again in a Python that has torch, or skips."""
    if not os.path.exists(python) or subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=LIMIT).returncode:
        print(f"skipped: {python} cannot import torch; `dev/setup test` mends that")
        sys.exit(SKIPPED)
    os.execv(python, [python, "-W", "ignore", __file__, *sys.argv[1:], "with-torch"])


def spec_from(models, metadata):
    numbers = {key: int(metadata[key]) for key in ("layers", "width", "heads", "classes", "outputs", "vocabulary", "context")}
    lists = {key: tuple(int(word) for word in metadata[key].split(",") if word) for key in ("hidden", "input_shape")}
    return models.Spec(metadata["kind"], activation=metadata["activation"], channels_last=metadata["channels_last"] == "1",
                       **numbers, **lists)


def starting_with(tensors, prefix):
    return {name[len(prefix):]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def expect_close(what, got, expected, tolerance):
    """Within `tolerance` of the largest number: rounding differs by the order of sums."""
    if got.shape != expected.shape:
        raise AssertionError(f"{what}: shape {tuple(got.shape)}, in Python {tuple(expected.shape)}")
    scale = max(expected.abs().max().item(), 1e-6)
    error = (got - expected).abs().max().item() / scale
    if not error <= tolerance:
        raise AssertionError(f"{what}: differs from Python's by {error:.3g} of the largest number")


def check_case(torch, models, tensors, metadata):
    spec = spec_from(models, metadata)
    model = models.make_model(spec)
    parameters, gradients = starting_with(tensors, "parameter/"), starting_with(tensors, "gradient/")
    if list(parameters) != [name for name, _ in model.named_parameters()]:
        raise AssertionError(f"the parameters are named {list(parameters)}, in Python {[n for n, _ in model.named_parameters()]}")
    dtype = next(iter(parameters.values())).dtype
    model.to(dtype).load_state_dict(parameters, strict=False)
    output = model(tensors["input"])
    tolerance = 1e-9 if dtype == torch.float64 else 1e-5
    expect_close("output", tensors["output"], output.detach(), tolerance)
    loss = models.mean_loss(spec, output, tensors["target"]) * len(output)
    expect_close("loss", tensors["loss"], loss.detach(), tolerance)
    loss.backward()
    for name, parameter in model.named_parameters():
        # A bias before a normalisation and the like have gradients of zero, up to rounding.
        expect_close(f"gradient of {name}", gradients[name], parameter.grad, 10 * tolerance)
    buffers = dict(model.named_buffers())
    for name, tensor in starting_with(tensors, "buffer/").items():
        expect_close(f"buffer {name}", tensor, buffers[name], tolerance)
    check_answers(spec, output, tensors["target"], float(metadata["correct"]))


def check_answers(spec, output, target, correct):
    if spec.kind == "logistic":
        expected = ((output.flatten() > 0) == (target == 1)).sum().item()
    elif spec.classes or spec.vocabulary:
        expected = (output.argmax(-1) == target).sum().item()
    else:
        expected = 0
    if correct != expected:
        raise AssertionError(f"{correct} right answers, in Python {expected}")


def steps_of(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[:-1], lines[-1]


def check_steps(folder, safetensors_file, torch):
    """torch_step.py trains: alone and as two ranks on halves of the batch it goes the same way."""
    data, weights, final = folder / "data.safetensors", folder / "start.safetensors", folder / "final.safetensors"
    torch.manual_seed(3)
    safetensors_file.write(data, {"inputs": torch.randn(2, 6, 5), "targets": torch.randint(3, (2, 6))})
    safetensors_file.write(weights, {
        "layers.0.weight": torch.randn(4, 5), "layers.0.bias": torch.zeros(4),
        "layers.1.weight": torch.randn(3, 4), "layers.1.bias": torch.zeros(3)})
    command = [sys.executable, "-W", "ignore", PEERS / "torch_step.py", "--model", "mlp", "--optimizer", "sgd", "--momentum", "0.9", "--lr", "0.1", "--steps", "5",
               "--spec", json.dumps({"hidden": [4], "input_shape": [5], "classes": 3}), "--data", data, "--weights", weights]
    alone, summary = steps_of(run(*command, "--write-weights", final))
    losses = [line["loss"] for line in alone]
    if [line["step"] for line in alone] != [1, 2, 3, 4, 5] or not losses[4] < losses[0] or summary["parameters"] != 39:
        raise AssertionError(f"torch_step.py did not train: {alone} {summary}")
    if torch.equal(safetensors_file.read(final)[0]["layers.1.weight"], safetensors_file.read(weights)[0]["layers.1.weight"]):
        raise AssertionError("torch_step.py wrote the weights it began with")
    for text in run_ranks([*command, "--ddp", "--meeting", folder / "meeting"], 2):
        for one, two in zip(losses, (line["loss"] for line in steps_of(text)[0])):
            if abs(one - two) > 1e-5 * abs(one):
                raise AssertionError(f"two ranks have a loss of {two}, one alone {one}")


def run_ranks(command, world):
    shared = {**os.environ, "WORLD_SIZE": str(world), "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [subprocess.Popen([str(word) for word in command], env={**shared, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
             for rank in range(world)]
    try:
        texts = [rank.communicate(timeout=LIMIT)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    if any(rank.returncode for rank in ranks):
        raise AssertionError(f"ranks of torch_step.py ended with {[rank.returncode for rank in ranks]}")
    return texts


def main():
    if sys.argv[-1] != "with-torch":
        go_on_with_torch(sys.argv[2])
    import torch
    torch.set_num_threads(1)
    sys.path.insert(0, str(PEERS))
    import safetensors_file
    import torch_models

    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in run(sys.argv[1]).split():
            path = folder / f"{case}.safetensors"
            run(sys.argv[1], case, path)
            try:
                check_case(torch, torch_models, *safetensors_file.read(path))
                print(f"{case}: equal")
            except AssertionError as error:
                failed += 1
                print(f"{case}: {error}")
        check_steps(folder, safetensors_file, torch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

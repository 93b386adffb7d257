"""Writes the golden files of the pure tests: `make_golden.py DIRECTORY`, with PyTorch 2.13."""

import pathlib
import sys

import torch
import torch.distributed.checkpoint as dcp


def tensors():
    base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    return {
        "matrix": base,
        "transposed": base.t(),
        "column": base[:, 1],
        "part": base[1:, 2:],
        "scalar": torch.tensor(7.5, dtype=torch.float64),
        "empty": torch.zeros(0, 3),
        "repeated": torch.tensor([5], dtype=torch.int64).expand(4),
        "bf16": torch.tensor([1.0, -2.0], dtype=torch.bfloat16),
        "f16": torch.tensor([0.5], dtype=torch.float16),
        "bool": torch.tensor([True, False, True]),
        "u8": torch.tensor([255], dtype=torch.uint8),
        "parameter": torch.nn.Parameter(torch.tensor([3.0])),
    }


def others():
    return {"none": None, "yes": True, "int": -5, "long": 2**40, "huge": 2**70, "float": 1.5, "text": "Grüße",
            "bytes": b"a\xff\x00", "list": [1, [2, ()]], "tuple": (1, "x"), "set": {4}, 7: "seven",
            "size": torch.Size([1, 2]), "dtype": torch.float16, "device": torch.device("cpu")}


def optimizer():
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    adam = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(3):
        model(torch.ones(1, 2)).sum().backward()
        adam.step()
    return {"model": model.state_dict(), "optimizer": adam.state_dict(), "epoch": 3}


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.save({"tensors": tensors(), **others()}, folder / "zip.pt")
    torch.save({"tensors": tensors(), **others()}, folder / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(optimizer(), folder / "training.pt")
    dcp.save({"model": {"weight": torch.arange(6.0).reshape(2, 3)}, "step": 4}, checkpoint_id=folder / "dcp", no_dist=True)


if __name__ == "__main__":
    main()

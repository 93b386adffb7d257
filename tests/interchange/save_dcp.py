"""Two ranks save a sharded model and its optimizer with DCP: `save_dcp.py DIRECTORY` writes dcp/ and, whole, whole.pt."""

import os
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.fsdp import fully_shard

WORLD = 2


def save(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=WORLD)
    torch.manual_seed(0)
    model = fully_shard(nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 1)))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        model(torch.ones(1, 5)).sum().backward()
        optimizer.step()
    tensors, moments = get_state_dict(model, optimizer)
    extra = torch.ones(2, 3, dtype=torch.bfloat16).t()
    dcp.save({"model": tensors, "optim": moments, "extra": extra, "step": 3}, checkpoint_id=f"{folder}/dcp")
    whole = {name: tensor.full_tensor() for name, tensor in tensors.items()} | {"extra": extra}
    for name, fields in moments["state"].items():
        for field, tensor in fields.items():
            full = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
            whole[f"{name}/{field}"] = full.to(torch.int64) if field == "step" else full
    if rank == 0:
        torch.save(whole, f"{folder}/whole.pt")
    dist.barrier()
    os._exit(0)  # threads of Gloo may still run


if __name__ == "__main__":
    mp.spawn(save, args=(str(pathlib.Path(sys.argv[1]).resolve()),), nprocs=WORLD)

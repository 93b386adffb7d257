"""A small training run that is the same with every backend: `train.py KIND BACKEND`. Rank 0 prints the losses. KIND is ddp,
fsdp, or the name of a hook of DDP: powerSGD_hook or batched_powerSGD_hook. With ", buckets" after it, DDP has several buckets:
the callbacks of the hook make calls between the hooks of other buckets. Gloo hangs then."""

import json
import os
import sys

import torch
import torch.distributed as dist
from torch import nn


def model():
    torch.manual_seed(7)
    return nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def wrapped(kind, net):
    if kind == "ddp":
        return nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.01)
    if kind.endswith("_hook"):
        return compressed(kind, net)
    if kind.endswith("_hook, buckets"):
        return compressed(kind.split(",")[0], net, bucket_cap_mb=0.005)
    from torch.distributed.fsdp import fully_shard

    for layer in net:
        if isinstance(layer, nn.Linear):
            fully_shard(layer)
    return fully_shard(net)


def compressed(kind, net, bucket_cap_mb=25):
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    if kind == "batched_powerSGD_hook":  # which torch 2.13 passes a matrix instead of a batch of matrices, and so ends
        several = powerSGD_hook._orthogonalize
        powerSGD_hook._orthogonalize = lambda matrix, epsilon=0: several(matrix.unsqueeze(0), epsilon)
    net = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=bucket_cap_mb)
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2, min_compression_rate=0.5)
    net.register_comm_hook(state, getattr(powerSGD_hook, kind))
    return net


def leave_gloo():
    """Ends the process without the destructor of Gloo's group. It joins Gloo's threads while it holds the GIL, and a thread
    that releases a tensor waits for the GIL: on a busy machine, some runs never end."""
    dist.barrier()
    os._exit(0)


def main():
    kind, backend = sys.argv[1:]
    torch.set_num_threads(1)
    dist.init_process_group(backend)
    net = wrapped(kind, model())
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    torch.manual_seed(100 + dist.get_rank())
    losses = []
    for _ in range(12):
        inputs = torch.randn(32, 40)
        loss = nn.functional.cross_entropy(net(inputs), (inputs.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(mean.item() / dist.get_world_size())
    if dist.get_rank() == 0:
        print(json.dumps(losses), flush=True)
    if backend == "gloo":
        leave_gloo()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

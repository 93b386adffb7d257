"""Saves and loads a sharded state with DCP: `checkpoint.py DIRECTORY`."""

import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.fsdp import fully_shard


def net(seed):
    torch.manual_seed(seed)
    return fully_shard(nn.Linear(30, 20))


def main():
    dist.init_process_group("cohort")
    saved, loaded = net(1), net(2)
    dcp.save(saved.state_dict(), checkpoint_id=sys.argv[1])
    state = loaded.state_dict()
    dcp.load(state, checkpoint_id=sys.argv[1])
    loaded.load_state_dict(state)
    for one, other in zip(saved.parameters(), loaded.parameters()):
        assert torch.equal(one.full_tensor(), other.full_tensor())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

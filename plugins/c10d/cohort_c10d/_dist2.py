"""Cohort for torch.distributed._dist2, torch's experimental interface in which process groups are objects:

    torch.distributed._dist2.new_group("cohort", timeout, "cpu")"""

import functools

import torch.distributed as dist
from torch.distributed import _dist2
from torch.distributed import distributed_c10d as c10d


def register(name, create):
    _dist2.register_backend(name, functools.partial(_new_group, name, create))


def _new_group(name, create, store, rank, world_size, timeout, device, **options):
    if options:
        raise TypeError(f"{name}: unknown options {', '.join(options)}: groups of this backend have no options")
    if device.type != "cpu":
        raise ValueError(f"{name}: device is {device}, expected cpu")
    membership = c10d._DistributedBackendOptions()
    membership.store, membership.group_rank, membership.group_size, membership.timeout = store, rank, world_size, timeout
    group = dist.ProcessGroup(store, rank, world_size)
    group._set_default_backend(dist.ProcessGroup.BackendType.CUSTOM)
    group._register_backend(device, dist.ProcessGroup.BackendType.CUSTOM, create(membership, None))
    return group

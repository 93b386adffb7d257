"""Wrappers around functions of torch.distributed that check for more than they need. monitored_barrier accepts only groups of
the backend gloo, split_group only groups with an accelerator, and a ProcessGroup knows the sequence numbers of torch's own
backends only. The wrappers let groups of Cohort pass and leave all others alone."""

import contextlib
import functools

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d


def open_for(name):
    for function, through in (("monitored_barrier", _monitored_barrier), ("split_group", _split_group)):
        original = getattr(c10d, function)
        wrapper = functools.wraps(original)(functools.partial(through, name, original))
        setattr(c10d, function, wrapper)
        setattr(dist, function, wrapper)
    for method in ("_get_sequence_number_for_group", "_set_sequence_number_for_group"):
        setattr(dist.ProcessGroup, method, _asking_the_backend(name, getattr(dist.ProcessGroup, method)))


def is_ours(name, group):
    return not c10d._rank_not_in_group(group) and dist.get_backend(group) == name


def _asking_the_backend(name, original):
    """A method of ProcessGroup that calls the method of the same name of a backend of Cohort."""

    @functools.wraps(original)
    def method(group):
        if group.name() != "custom":  # ProcessGroup's name for backends that are not torch's own
            return original(group)
        backend = group._get_backend(torch.device("cpu"))
        return getattr(backend, original.__name__)() if backend.name() == name else original(group)

    return method


def _monitored_barrier(name, original, group=None, timeout=None, wait_all_ranks=False):
    if not is_ours(name, group):
        return original(group, timeout, wait_all_ranks)
    group = group or c10d._get_default_group()
    if timeout is None:
        timeout = group._get_backend(torch.device("cpu")).options._timeout
    c10d._check_valid_timeout(timeout)
    return group.monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)


def _split_group(name, original, parent_pg=None, split_ranks=None, timeout=None, pg_options=None, **others):
    if not is_ours(name, parent_pg):
        return original(parent_pg, split_ranks, timeout, pg_options, **others)
    parent = parent_pg or c10d._get_default_group()
    options = pg_options or parent._get_backend(torch.device("cpu")).options
    with _cpu_as_accelerator(c10d._get_default_group()):
        return original(parent, split_ranks, timeout, options, **others)


@contextlib.contextmanager
def _cpu_as_accelerator(default_group):
    """split_group uses the backend of the current accelerator, and needs the default group to be bound to a device."""
    accelerator = torch.accelerator
    saved = accelerator.is_available, accelerator.current_accelerator, default_group.bound_device_id
    accelerator.is_available = lambda: True
    accelerator.current_accelerator = lambda *_, **__: torch.device("cpu")
    default_group.bound_device_id = torch.device("cpu", 0)
    try:
        yield
    finally:
        accelerator.is_available, accelerator.current_accelerator, default_group.bound_device_id = saved

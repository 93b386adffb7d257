"""Hooks of DDP whose callbacks make further calls, as PowerSGD does.

Every rank must make the calls of a group in the same order. Callbacks of asynchronous calls run when these have ended, and so
before or after the hook of the next bucket, differently on each rank. Therefore calls that a hook makes in a group of Cohort
have ended when they return: callbacks run inside the hook, in the order of the program. Hooks of torch that make a single call
are left alone, and overlap with the backward pass."""

import functools

import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

SINGLE_CALLS = (default_hooks.allreduce_hook, default_hooks.fp16_compress_hook, default_hooks.bf16_compress_hook)


def keep_order(is_ours):
    """`is_ours(group)`: whether a group is one of Cohort."""
    original = torch.nn.parallel.DistributedDataParallel.register_comm_hook

    @functools.wraps(original)
    def register_comm_hook(net, state, hook):
        in_order = is_ours(net.process_group) and callable(hook) and hook not in SINGLE_CALLS
        return original(net, state, _in_order(hook) if in_order else hook)

    torch.nn.parallel.DistributedDataParallel.register_comm_hook = register_comm_hook


def _in_order(hook):
    from . import _C

    @functools.wraps(hook)
    def run(state, bucket):
        _C.run_at_once(True)
        try:
            return hook(state, bucket)
        finally:
            _C.run_at_once(False)

    return run

"""Cohort's communicator as a backend of torch.distributed, for CPU tensors.

    torch.distributed.init_process_group("cohort")

is all that is needed where this package is installed: torch finds it by its entry point. With
TORCH_DEVICE_BACKEND_AUTOLOAD=0 it does not look; then `import cohort_c10d` before that line."""

# torch is imported by functions: whoever imports this package first makes torch look for it, which must find it whole.

NAME = "cohort"


def register():
    """Makes the backend known to torch. Done on import, and by torch itself; a second time it does nothing."""
    import torch.distributed as dist

    if not dist.is_available() or NAME in dist.Backend.backend_list:
        return
    dist.Backend.register_backend(NAME, _create, extended_api=True, devices=["cpu"])
    from . import _torch_gates

    _torch_gates.open_for(NAME)


def kind(group=None):
    """How the ranks of a group talk: `shared memory`, `hosts` or `hosts over ucx`."""
    from . import _C

    return _C.kind(_backend(group))


def allocate_in_arena(group=None, at_least=1 << 20):
    """From now on tensors of `at_least` bytes lie in memory that the ranks of this group on one host share: their
    numbers are not copied on the way. Call it after init_process_group and before the model is wrapped, so that DDP's
    buckets and FSDP's buffers are among them. Returns nothing; allocate_as_usual() ends it for what comes later."""
    from . import _C

    _C.allocate_in_arena(_backend(group), at_least)


def allocate_as_usual():
    """Later tensors lie where they would without Cohort. Those that are in an arena stay there."""
    from . import _C

    _C.allocate_as_usual()


def _backend(group):
    import torch
    import torch.distributed as dist

    group = group or dist.distributed_c10d._get_default_group()
    return group._get_backend(torch.device("cpu"))


def _create(options, _backend_options, name=NAME):
    from . import _C

    _let_ddp_ask()
    return _C.create(options, name)


def _let_ddp_ask():
    """DDP asks the backend for the memory of its buckets where this variable says so; then they lie in the arena. NCCL
    would be asked, too, which is for others to decide."""
    import os

    import torch

    if not torch.cuda.is_available():
        os.environ.setdefault("DDP_DISABLE_COMM_MEM", "0")


register()

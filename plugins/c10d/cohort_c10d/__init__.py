"""Cohort as a backend of torch.distributed, for CPU tensors.

    torch.distributed.init_process_group("cohort")

torch finds the installed package by its entry point, so no import is necessary. With
TORCH_DEVICE_BACKEND_AUTOLOAD=0 torch does not look for it: `import cohort_c10d` before that line."""

# torch is imported inside functions: importing torch makes it load this package by the entry point, which must be complete
# by then.

NAME = "cohort"


def register():
    """Registers the backend with torch. Called on import, and by torch itself; further calls do nothing."""
    import torch.distributed as dist

    if not dist.is_available() or NAME in dist.Backend.backend_list:
        return
    dist.Backend.register_backend(NAME, _create, extended_api=True, devices=["cpu"])
    from . import _ddp_hooks, _dist2, _torch_gates

    _torch_gates.open_for(NAME)
    _ddp_hooks.keep_order(lambda group: _torch_gates.is_ours(NAME, group))
    _dist2.register(NAME, _create)


def kind(group=None):
    """The transport of a group: `shared memory`, `hosts` (TCP between hosts) or `hosts over ucx`."""
    from . import _C

    return _C.kind(_backend(group))


def allocate_in_arena(group=None, at_least=1 << 20):
    """Allocates all later CPU tensors of `at_least` bytes or more in memory that the ranks of this group on one host
    share, so that collective calls on them need no copies. Call it after init_process_group and before wrapping the
    model, so that it covers the buckets of DDP and the buffers of FSDP. allocate_as_usual() ends it for later tensors."""
    from . import _C

    _C.allocate_in_arena(_backend(group), at_least)


def allocate_as_usual():
    """Allocates later tensors with torch's own allocator again. Tensors in shared memory stay there."""
    from . import _C

    _C.allocate_as_usual()


def records_flight():
    """Whether calls get entries in torch's flight recorder. False if TORCH_FR_BUFFER_SIZE is 0, or if the symbol table of
    libtorch_cpu.so was stripped."""
    from . import _C

    return _C.records_flight()


def _backend(group):
    import torch
    import torch.distributed as dist

    group = group or dist.distributed_c10d._get_default_group()
    backend = group._get_backend(torch.device("cpu"))
    return getattr(backend, "wrapped_pg", backend)  # with TORCH_DISTRIBUTED_DEBUG=DETAIL torch wraps the backend


def _create(options, _backend_options, name=NAME):
    from . import _C

    _let_ddp_ask()
    return _C.create(options, name)


def _let_ddp_ask():
    """Makes DDP allocate its buckets through the backend, in shared memory. Not with CUDA, as DDP would then ask NCCL
    as well."""
    import os

    import torch

    if not torch.cuda.is_available():
        os.environ.setdefault("DDP_DISABLE_COMM_MEM", "0")


register()

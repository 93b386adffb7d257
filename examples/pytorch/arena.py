# The same sum as everywhere, of numbers that ranks of one host share: nothing is copied.
import cohort_c10d
import torch
import torch.distributed as dist

dist.init_process_group("cohort")
cohort_c10d.allocate_in_arena()

numbers = torch.full((1 << 20,), float(dist.get_rank()))
dist.all_reduce(numbers)
assert numbers[0].item() == sum(range(dist.get_world_size()))
dist.destroy_process_group()

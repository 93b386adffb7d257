# A PyTorch model, trained by DistributedDataParallel over Cohort.
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("cohort")  # the changed word

torch.manual_seed(1)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

torch.manual_seed(100 + dist.get_rank())
for step in range(200):
    inputs = torch.randn(32, 20)
    loss = nn.functional.cross_entropy(net(inputs), (inputs.sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

mean = torch.tensor(loss.item())
dist.all_reduce(mean, op=dist.ReduceOp.AVG)
if dist.get_rank() == 0:
    print(f"{dist.get_world_size()} ranks, last loss {mean.item():.3f}")
dist.destroy_process_group()

config show fine.toml --set launch.ranks=4 --set launch.threads_per_rank=2

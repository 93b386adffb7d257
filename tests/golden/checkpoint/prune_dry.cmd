checkpoint prune damaged --dry-run --keep-last 1 --keep-best 0

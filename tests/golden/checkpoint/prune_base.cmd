checkpoint prune ../../checkpoint/golden --dry-run --keep-last 1 --keep-best 0

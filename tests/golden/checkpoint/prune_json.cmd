checkpoint prune ../../checkpoint/golden --dry-run --json

checkpoint prune ../../checkpoint/golden --keep-last 0

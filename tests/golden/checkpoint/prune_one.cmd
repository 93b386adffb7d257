checkpoint prune ../../checkpoint/golden/3

checkpoint diff ../../checkpoint/golden/4 runs/digits

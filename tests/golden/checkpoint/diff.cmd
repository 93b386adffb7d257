checkpoint diff ../../checkpoint/golden/3 ../../checkpoint/golden/4

checkpoint diff ../../checkpoint/golden/3 ../../checkpoint/golden/example

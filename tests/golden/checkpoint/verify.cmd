checkpoint verify ../../checkpoint/golden

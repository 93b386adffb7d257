checkpoint verify ../../checkpoint/golden --jsn

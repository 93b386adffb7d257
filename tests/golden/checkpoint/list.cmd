checkpoint list ../../checkpoint/golden

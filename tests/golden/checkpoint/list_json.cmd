checkpoint list ../../checkpoint/golden --json

checkpoint show ../../checkpoint/golden --config

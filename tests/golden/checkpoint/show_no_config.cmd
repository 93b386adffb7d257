checkpoint show ../../checkpoint/golden/example --config

checkpoint show ../../checkpoint/golden/example --json

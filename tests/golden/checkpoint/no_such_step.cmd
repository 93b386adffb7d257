checkpoint show ../../checkpoint/golden/77777777

checkpoint show ../../checkpoint/golden/4 --tensors

checkpoint show ../../checkpoint/golden/step-000000000005

checkpoint show runs/digits/3

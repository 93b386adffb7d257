checkpoint show runs/digits --depth 2

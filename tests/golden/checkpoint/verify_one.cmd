checkpoint verify runs/digits/4

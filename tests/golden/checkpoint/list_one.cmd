checkpoint list runs/digits/4

checkpoint list runs/digits

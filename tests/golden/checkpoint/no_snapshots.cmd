checkpoint list empty

checkpoint list damaged

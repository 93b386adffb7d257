run -n 2

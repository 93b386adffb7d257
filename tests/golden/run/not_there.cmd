run -n 2 ./nowhere --json

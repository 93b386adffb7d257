run -n 1 echo hello --json -n 5 -- x

run -n 1 sh -c 'echo step 1; exit 3'

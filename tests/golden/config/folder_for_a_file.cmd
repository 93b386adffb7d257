config check .

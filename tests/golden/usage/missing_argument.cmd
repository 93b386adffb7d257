config check

config check ''

train fine.toml -n 0

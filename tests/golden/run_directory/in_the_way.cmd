config check training.toml

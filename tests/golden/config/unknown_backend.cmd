config check --set communication.backend=steam ../train/fine.toml

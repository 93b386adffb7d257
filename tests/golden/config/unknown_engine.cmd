config check --set communication.engine=steam ../train/fine.toml

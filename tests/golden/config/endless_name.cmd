config check endless_name.toml

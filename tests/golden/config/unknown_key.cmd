config check unknown_key.toml

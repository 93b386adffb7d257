config check unknown_choice.toml

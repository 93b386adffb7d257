config check unknown_section.toml

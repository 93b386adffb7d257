config check no_effect.toml

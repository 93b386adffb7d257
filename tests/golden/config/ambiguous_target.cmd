config check ambiguous_target.toml

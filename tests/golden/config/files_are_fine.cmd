config check ambiguous_target.toml --set data.target=number

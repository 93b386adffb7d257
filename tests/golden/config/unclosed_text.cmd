config check unclosed_text.toml

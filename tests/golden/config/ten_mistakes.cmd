config check ten_mistakes.toml

config check training_mistakes.toml

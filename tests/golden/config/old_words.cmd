config check old_words.toml

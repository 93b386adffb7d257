config check key_as_section.toml

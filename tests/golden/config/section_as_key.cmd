config check section_as_key.toml

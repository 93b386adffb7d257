config check missing_files.toml

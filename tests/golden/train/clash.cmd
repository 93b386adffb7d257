train clash.toml

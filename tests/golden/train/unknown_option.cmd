train fine.toml --dryrun

train fine.toml --backend mpi

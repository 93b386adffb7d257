train fine.toml --engine mpi

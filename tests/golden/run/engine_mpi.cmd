run --engine mpi true

run --backend mpi true

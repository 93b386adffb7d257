config explain launch.rank

config explain launch.ranks

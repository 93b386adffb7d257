checkpoint verify damaged/2 --json

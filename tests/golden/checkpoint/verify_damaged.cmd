checkpoint verify damaged

config show --set launch.rnaks=4 --set launch.ranks --set log.level=loud

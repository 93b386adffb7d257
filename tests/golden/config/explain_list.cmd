config explain optimizer.groups

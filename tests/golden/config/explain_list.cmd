config explain update.groups

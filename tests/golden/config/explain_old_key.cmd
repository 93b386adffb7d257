config explain update.rule

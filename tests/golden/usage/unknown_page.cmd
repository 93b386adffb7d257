reference nothing

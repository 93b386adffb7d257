config show --set 'launch={ranks=3}'

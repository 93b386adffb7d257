config show --set 'launch.interfaces=["a\"b"]'

new 'my project'

config explain model

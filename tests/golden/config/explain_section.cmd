config explain doctor

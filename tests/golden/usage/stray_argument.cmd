version extra

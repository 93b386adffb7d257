docter

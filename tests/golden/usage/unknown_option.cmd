doctor --jsno

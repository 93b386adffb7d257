checkpoint list nothing

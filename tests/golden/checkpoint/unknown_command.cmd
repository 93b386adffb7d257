checkpoint lst

"""Models of one variable given others, one file each; all can be fitted and drawn from."""

"""The stories that the samples tell, one module each: `story()` builds the cluster."""

"""The visual stage of the filter: look at clips, accept or reject them."""

"""Visual stage of the filter: review of clips, which are accepted or rejected."""

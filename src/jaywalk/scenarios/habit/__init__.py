"""People of the suite ``habit``: posed by clips of a motion library, idle first, then moving."""

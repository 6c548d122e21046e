"""Reports: tables and figures of what metrics found."""

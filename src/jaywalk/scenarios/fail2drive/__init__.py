"""The scenario classes of Fail2Drive, one file each, with the variants our suite plays."""

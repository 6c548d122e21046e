"""The jaywalk command: one thin file per verb."""

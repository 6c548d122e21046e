"""One simulated session: episode, settings, sensors and the view they measure."""

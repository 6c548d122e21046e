"""The first-contact job: half a minute of traffic and people, as a film and a picture."""

"""People posed by motion clips: standing places, clips and walks."""

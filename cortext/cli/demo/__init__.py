"""The sample conversation and questions used by ``cortext demo``."""

"""`cortext gate`: the streaming gate on a recorded stream."""

"""What fulfils the ports: AWS, Pillow, the system clock, and an in-memory twin of each under `memory`."""

"""What runs on a person's machine: set-up, local stack, demonstration, load, operator commands."""

"""The command `thumbline`: what an operator sees and does, on a deployed stage and on the local stack."""

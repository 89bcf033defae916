"""What the service costs, from one dated file of prices and the operations that a job makes."""

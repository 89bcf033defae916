"""The real use cases on the twins, in virtual time, under every fault at once; the seed alone decides."""

"""Every way in which a job changes, one function each, grouped by who may do it."""

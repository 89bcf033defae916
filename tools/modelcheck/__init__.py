"""A breadth-first search of the job protocol that applies the rules of `thumbline.domain` themselves."""

"""Set-up with nothing but a Python's standard library: environments from locks, and the CDK command line.

`start.sh` finds a Python to run this with; `python -m tools.setup` does the work;
`python -m tools.setup.lock` renews the locks.
"""

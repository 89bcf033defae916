#!/bin/sh
# Finds a Python that can run the set-up; the set-up itself then chooses the one to build the environment with.
for candidate in "${PYTHON:-python3}" python3 python3.13 python3.12 python3.11; do
    if "$candidate" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        exec "$candidate" -m tools.setup
    fi
done
echo "setup: no working Python 3.11 or newer was found; install one (Debian: apt-get install python3 python3-venv)" \
    "or name one with PYTHON=/path/to/python3" >&2
exit 1

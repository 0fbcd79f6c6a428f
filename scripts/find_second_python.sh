#!/usr/bin/env bash
# Prints the path of a Python 3.13 that really runs, or nothing; nothing too where the given
# python3 is as new, since a second environment would then test nothing that the first does not.
#   scripts/find_second_python.sh python3
# pyenv puts a shim on the path for versions that are installed but not selected, and the shim
# fails when called: an interpreter counts when it reports the version itself.
set -u

reports() {
    "$1" -c "import sys, venv; sys.exit(not ($2))" 2>/dev/null
}

if reports "$1" "sys.version_info >= (3, 13)"; then
    exit 0
fi
pyenv_root=$(pyenv root 2>/dev/null || echo "${PYENV_ROOT:-$HOME/.pyenv}")
for candidate in python3.13 "$pyenv_root"/versions/3.13*/bin/python3.13; do
    if path=$(command -v "$candidate") && reports "$path" "sys.version_info[:2] == (3, 13)"; then
        echo "$path"
        exit 0
    fi
done

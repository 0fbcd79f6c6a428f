#!/usr/bin/env bash
# Makes a virtual environment with what tests and checks need, all but schedscope itself.
#   scripts/make_env.sh PYTHON DIRECTORY [REQUIREMENTS]     by default the newest for this Python
set -euo pipefail
python=$1
env=$2
cd "$(dirname "$0")/.."

version=$("$python" -c 'import sys; print("%d.%02d" % sys.version_info[:2])')
if [[ $version < 3.11 ]]; then
    echo "schedscope needs Python 3.11 or newer, and $python is ${version/.0/.};" \
        "name a newer one: make PYTHON=python3.12" >&2
    exit 1
fi
newest=requirements/jax-0.12.txt
if [[ $version == 3.11 ]]; then
    newest=requirements/jax-0.10.txt
fi
requirements=${3:-$newest}

echo "making $env: Python $version, $requirements"
"$python" -m venv --clear "$env"
"$env/bin/python" -m pip --disable-pip-version-check --quiet install --no-deps \
    --requirement "$requirements"

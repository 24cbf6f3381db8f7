#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tox. The machine needs only Python 3.11 or later. `tools/tox.sh` runs all
# tests, `tools/tox.sh -e demo` runs the demonstration. Everything else is
# installed into .venv and .tox in the project's folder.
set -euo pipefail
cd "$(dirname "$0")/.."

# The distribution's Python is preferred if it can create environments: its
# build is optimized with profiles, so that the tests need a tenth less
# processor time than with a Python that was compiled without them.
python=${PYTHON:-python3}
if [ -z "${PYTHON:-}" ] && /usr/bin/python3 -c '
import ensurepip, os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.version_info < (3, 11) or not os.path.exists(header))
' 2>/dev/null; then
    python=/usr/bin/python3
fi
export PYTHON=$python
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "tools/tox.sh: $python is older than Python 3.11; set PYTHON" >&2
    exit 2
fi

if [ ! -x .venv/bin/tox ]; then
    # On Debian, venv is in a separate package.
    "$python" -c 'import ensurepip, venv' 2>/dev/null || tools/test-setup.sh
    "$python" -m venv .venv
    .venv/bin/python -m pip install --quiet -c constraints.txt tox tox-uv
fi
if [ $# -gt 0 ]; then
    exec .venv/bin/tox run "$@"
fi
# Some dependencies are compiled where no wheel fits this machine. All other
# packages of the distribution are installed by the environments that use them
# (commands_pre in tox.ini), while another environment runs already.
command -v cc >/dev/null || tools/test-setup.sh
# Four at a time keep two processors busy, because some tests wait for servers.
exec .venv/bin/tox run-parallel --parallel 4 --parallel-no-spinner

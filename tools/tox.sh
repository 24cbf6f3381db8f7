#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tox, from nothing: `tools/tox.sh` for all tests, `tools/tox.sh -e demo`
# for the demo. Needs Python 3.11 or newer; the rest it installs into .venv and
# .tox below the project's folder.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "tools/tox.sh: $python is older than Python 3.11; set PYTHON" >&2
    exit 2
fi

if [ ! -x .venv/bin/tox ]; then
    # Debian keeps venv in a package of its own.
    "$python" -c 'import ensurepip, venv' 2>/dev/null || tools/test-setup.sh
    "$python" -m venv .venv
    .venv/bin/python -m pip install --quiet -c constraints.txt tox
fi
if [ $# -eq 0 ]; then
    # Two at a time; what the distribution has to bring is there before, so
    # that no two of them install it. The longest are the first of the list.
    for command in cc mariadbd memcached /usr/lib/rabbitmq/bin/rabbitmq-server \
            /usr/lib/postgresql/*/bin/postgres; do
        PATH=$PATH:/usr/sbin command -v "$command" >/dev/null || {
            tools/test-setup.sh
            break
        }
    done
    exec .venv/bin/tox run-parallel --parallel 2 --parallel-no-spinner
fi
# The environment cloud compiles uwsgi when it is made.
case " $* " in
*" -e "*cloud*) command -v cc >/dev/null || tools/test-setup.sh ;;
esac
exec .venv/bin/tox run "$@"

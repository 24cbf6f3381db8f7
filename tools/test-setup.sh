#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the distribution's packages that bindep.txt names, as root. Only a
# machine that lacks one of them needs this; tools/tox.sh calls it then.
set -euo pipefail
cd "$(dirname "$0")/.."

# Environments may call this at the same time. One call waits for another,
# because each removes the policy file when it ends.
exec 9<tools/test-setup.sh
flock 9

mapfile -t packages < <(sed -n 's/^\([a-z0-9][a-z0-9.+-]*\).*platform:dpkg.*/\1/p' bindep.txt)
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo

# No package starts the service that it brings: the tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '$sudo rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
    $sudo chmod 755 "$policy"
fi

$sudo apt-get update -q -o DPkg::Lock::Timeout=600
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    -o DPkg::Lock::Timeout=600 --no-install-recommends "${packages[@]}"

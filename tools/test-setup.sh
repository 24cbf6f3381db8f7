#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the distribution's packages that bindep.txt names, as root. Only a
# machine that lacks one of them needs this; tools/tox.sh calls it then.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(sed -n 's/^\([a-z0-9][a-z0-9.+-]*\).*platform:dpkg.*/\1/p' bindep.txt)
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
$sudo apt-get update -q
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q \
    --no-install-recommends "${packages[@]}"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs packages in the versions of constraints.txt, except for Nova, whose
# version is the first argument; all others are passed to `uv pip install`.
set -euo pipefail
version=$1
shift
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
sed "s/^nova==.*/nova==$version/" "$(dirname "$0")/../constraints.txt" \
    > "$constraints"
uv pip install -c "$constraints" "$@"

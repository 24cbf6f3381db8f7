# SPDX-License-Identifier: Apache-2.0
"""The names that a DevStack plugin may use, read from a checkout of DevStack.

``python tools/devstack_names.py CHECKOUT COMMIT >
tests/unit/devstack/names.json`` writes, for each of the scripts that call a
plugin, the functions and variables of all files that the script sources: first
those that all scripts share, then those of a single script. It copies names
only, and no code.
"""

from collections.abc import Iterator
import json
import pathlib
import re
import sys

SCRIPTS = ('stack.sh', 'unstack.sh', 'clean.sh')
_SOURCED = re.compile(
    r'^\s*source \$\{?(?:TOP_DIR|FUNC_DIR|RC_DIR)\}?/([\w/-]+)\s*$', re.M)
_FUNCTION = re.compile(r'^\s*function +([\w-]+)|^([\w-]+) *\(\)', re.M)
_VARIABLE = re.compile(
    r'^\s*(?:export |local |declare -\w+ )?([A-Z][A-Z0-9_]*)(?:\[[^]]*\])?\+?='
    r'|\$\{([A-Z][A-Z0-9_]*):=|^declare -\w+ ([A-Z][A-Z0-9_]*)', re.M)


def names(pattern: re.Pattern, text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        yield next(filter(None, found.groups()))


def texts(checkout: pathlib.Path, path: str,
          seen: set[str]) -> Iterator[str]:
    """The text of a file, and of those that it sources by a fixed path."""
    if path in seen or not (checkout / path).is_file():
        return
    seen.add(path)
    text = (checkout / path).read_text()
    yield text
    for sourced in _SOURCED.findall(text):
        yield from texts(checkout, sourced, seen)


def main() -> None:
    checkout, commit = pathlib.Path(sys.argv[1]), sys.argv[2]
    known = {script: '\n'.join(texts(checkout, script, set()))
             for script in SCRIPTS}
    found = {'source': 'https://opendev.org/openstack/devstack',
             'commit': commit}
    for kind, pattern in (('functions', _FUNCTION), ('variables', _VARIABLE)):
        of = {script: set(names(pattern, text))
              for script, text in known.items()}
        shared = set.intersection(*of.values())
        found[kind] = {'all': sorted(shared), **{
            script: sorted(each - shared) for script, each in of.items()}}
    json.dump(found, sys.stdout, indent=0)
    print()


if __name__ == '__main__':
    main()

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
    for match in pattern.finditer(text):
        yield next(filter(None, match.groups()))


def texts(checkout: pathlib.Path, path: str,
          visited: set[str]) -> Iterator[str]:
    """The text of a file, and of those that it sources by a fixed path."""
    if path in visited or not (checkout / path).is_file():
        return
    visited.add(path)
    text = (checkout / path).read_text()
    yield text
    for sourced in _SOURCED.findall(text):
        yield from texts(checkout, sourced, visited)


def main() -> None:
    checkout, commit = pathlib.Path(sys.argv[1]), sys.argv[2]
    scripts = {script: '\n'.join(texts(checkout, script, set()))
               for script in SCRIPTS}
    document = {'source': 'https://opendev.org/openstack/devstack',
                'commit': commit}
    for kind, pattern in (('functions', _FUNCTION), ('variables', _VARIABLE)):
        of = {script: set(names(pattern, text))
              for script, text in scripts.items()}
        shared = set.intersection(*of.values())
        document[kind] = {'all': sorted(shared), **{
            script: sorted(each - shared) for script, each in of.items()}}
    json.dump(document, sys.stdout, indent=0)
    print()


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.bytecode FOLDER``: use the compiled modules of the other
environments in a folder.

tox makes an environment for each part of the tests, and uv installs the same
files in all of them, as links to one cache. Python would compile each module
again in each environment, which takes several seconds of processor time. This
command links the modules that another environment has compiled.
"""

import contextlib
import os
import pathlib
import sys
import sysconfig

_SUFFIX = f'.{sys.implementation.cache_tag}.pyc'


def share(packages: pathlib.Path, others: pathlib.Path) -> int:
    """Link the compiled modules of another folder. Modules that are compiled
    already remain, and so do modules whose files differ.

    :param packages: folder of installed packages
    :param others: folder of the same packages in another environment
    :returns: number of linked modules
    """
    linked = 0
    for folder, _, names in os.walk(others):
        if not folder.endswith('__pycache__'):
            continue
        own = packages / os.path.relpath(folder, others)
        for name in {name for name in names if name.endswith(_SUFFIX)
                     } - _names(own):
            module = f'../{name.removesuffix(_SUFFIX)}.py'
            # Another environment may change at any time.
            with contextlib.suppress(FileExistsError, FileNotFoundError):
                if os.path.samefile(f'{folder}/{module}', f'{own}/{module}'):
                    os.link(f'{folder}/{name}', f'{own}/{name}')
                    linked += 1
    return linked


def _names(folder: pathlib.Path) -> set[str]:
    """Return the names of the files in a folder, and create it if its parent
    exists."""
    with contextlib.suppress(FileNotFoundError):
        folder.mkdir(exist_ok=True)
        return set(os.listdir(folder))
    return set()


def main(environments: str) -> None:
    packages = pathlib.Path(sysconfig.get_path('purelib'))
    own = pathlib.Path(sys.prefix).resolve()
    for each in pathlib.Path(environments).iterdir():
        others = each / packages.relative_to(sys.prefix)
        if others.is_dir() and each.resolve() != own:
            share(packages, others)


if __name__ == '__main__':
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""A copy of the project's tracked files, in which one file at a time may be
mutated."""

from collections.abc import Iterator
import contextlib
import pathlib
import shutil
import subprocess

from tools.mutants.mutant import DoesNotApply, Mutant


class ProjectCopy:
    """A copy of the tracked files.

    :ivar root: the directory of the copy
    """

    def __init__(self, project: pathlib.Path, root: pathlib.Path):
        """Copy all files that git tracks, as they are in the work tree."""
        self.root = root
        listed = subprocess.run(
            ['git', 'ls-files', '-z'], cwd=project, check=True,
            stdout=subprocess.PIPE, text=True).stdout
        for name in listed.split('\0'):
            # A tracked file may have been deleted in the work tree.
            if name and (project / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(project / name, root / name)

    @contextlib.contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """Apply the mutant within the context.

        :raises DoesNotApply: the file or its text does not exist
        """
        path = self.root / mutant.file
        if not path.is_file():
            raise DoesNotApply(f'there is no tracked file {mutant.file}')
        before = path.read_bytes()
        path.write_bytes(mutant.apply(before.decode()).encode())
        try:
            yield
        finally:
            path.write_bytes(before)

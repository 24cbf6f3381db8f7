# SPDX-License-Identifier: Apache-2.0
"""A mutant replaces one text in one file."""

from dataclasses import dataclass


class DoesNotApply(Exception):
    """The file does not contain the text, or cannot be compiled after the
    replacement."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutant. The package docstring of ``tools.mutants`` describes the
    fields of a list.

    :ivar package: name of the list, without its suffix
    """

    package: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    occurrence: int | None = None
    environment: str | None = None

    def matches(self, word: str) -> bool:
        """Return whether the word is the package, or a part of the name or the
        file."""
        return word == self.package or word in self.name or word in self.file

    def apply(self, text: str) -> str:
        """Return the text of the file with the mutant.

        :raises DoesNotApply: the file does not contain the old text as often
            as required, or the result cannot be compiled
        """
        before, after = self._around(text)
        mutated = before + self.new + after
        if self.file.endswith('.py'):
            try:
                compile(mutated, self.file, 'exec')
            except (SyntaxError, ValueError) as error:
                raise DoesNotApply(f'{self.file} cannot be compiled with it: '
                                   f'{error}') from error
        return mutated

    def _around(self, text: str) -> tuple[str, str]:
        """Return the text before and after the replaced text."""
        parts = text.split(self.old)
        times = len(parts) - 1
        if not times:
            raise DoesNotApply(f'its old text is not in {self.file}')
        if self.occurrence is None and times > 1:
            raise DoesNotApply(f'its old text is in {self.file} {times} times;'
                               ' give the occurrence')
        number = self.occurrence or 1
        if number > times:
            raise DoesNotApply(f'its old text is in {self.file} {times} times,'
                               f' and the occurrence is {number}')
        return self.old.join(parts[:number]), self.old.join(parts[number:])

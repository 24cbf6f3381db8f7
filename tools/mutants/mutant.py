# SPDX-License-Identifier: Apache-2.0
"""A mutant replaces one text in one file."""

from dataclasses import dataclass


class DoesNotApply(Exception):
    """The file does not contain the text, or cannot be compiled after it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """See ``tools.mutants`` for the fields that a list gives.

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
        """Whether its package is the word, or its name or file contains it."""
        return word == self.package or word in self.name or word in self.file

    def apply(self, text: str) -> str:
        """The file's text with the mutant.

        :raises DoesNotApply: the old text is not in the file as often as the
            list says, or the result is not Python
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
        """The text before and after what is replaced."""
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

# SPDX-License-Identifier: Apache-2.0
"""Commands and configuration files of the installation manual.

The cloud runs them as an operator does, with the addresses and passwords of
this machine in place of those of the manual.
"""

from collections.abc import Mapping
import re
import shlex

from oslo_config import iniparser

from tools.cloud.layout import Sections
from tools.cloud.processes import PROJECT

INSTALL = PROJECT / 'doc/source/admin/install.rst'
EXCERPT = PROJECT / 'etc/nova-holistic/nova.conf.excerpt'
_PLACEHOLDERS = ('SECRET', 'controller')


class ManualChanged(Exception):
    """The manual does not contain what the cloud reads from it."""


def commands(beginning: str) -> list[list[str]]:
    """The words of each command that begins with this text.

    :raises ManualChanged: the manual has no such command
    """
    texts = re.findall(
        rf'^ +({re.escape(beginning)} (?:.*\\\n)*.*)$', _text(), re.MULTILINE)
    if not texts:
        raise ManualChanged(f'{INSTALL} has no command "{beginning}"')
    return [shlex.split(text.replace('\\\n', ' ')) for text in texts]


def uwsgi_options() -> dict[str, str | None]:
    """The options of the command that serves the API, without their dashes.

    The value is None if an option has no value.
    """
    (_, *words), = commands('uwsgi')
    options: dict[str, str | None] = {}
    for word in words:
        if word.startswith('--'):
            name = word.removeprefix('--')
            options[name] = None
        else:
            options[name] = word
    return options


def roles() -> tuple[str, ...]:
    """The roles that the user ``holistic`` gets in the service project."""
    return tuple(words[-1] for words in commands('openstack role add'))


def database_statements(password: str) -> list[str]:
    """The statements that create the database and its user on MariaDB.

    A server executes them at each start.

    :param password: replaces the password of the manual
    """
    block = re.search(
        r'^On MariaDB:\n\n\.\. code-block:: sql\n\n((?: +.*\n)+)', _text(),
        re.MULTILINE)
    if block is None:
        raise ManualChanged(f'{INSTALL} has no statements for MariaDB')
    return [
        re.sub(r'^(CREATE \w+)', r'\1 IF NOT EXISTS',
               line.strip()).replace('SECRET', password)
        for line in block[1].splitlines()]


def interfaces() -> tuple[str, ...]:
    """The interfaces of the endpoints of the API."""
    words, = commands('for interface in')
    return tuple(word.rstrip(';') for word in words[3:-1])


def configuration(option: str, values: Mapping[str, object]) -> Sections:
    """The sections of the example file that sets this option.

    :param values: the values of this cloud by those of the manual that they
        replace
    :raises ManualChanged: no file sets the option, or a value still contains
        a host or a password of the manual
    """
    blocks = re.findall(r'^( *)\.\. code-block:: ini\n\n((?:\1 +.*\n|\n)+)',
                        _text(), re.MULTILINE)
    for _, block in blocks:
        sections = _sections(block)
        if any(option in options for options in sections.values()):
            return _replaced(sections, values)
    raise ManualChanged(f'no file in {INSTALL} sets {option}')


def scheduler_configuration(values: Mapping[str, object]) -> Sections:
    """The sections that the manual adds to nova.conf of the scheduler.

    :param values: as of ``configuration``
    :raises ManualChanged: as by ``configuration``
    """
    return _replaced(_sections(EXCERPT.read_text(encoding='utf-8')), values)


def enabled_filters() -> list[str]:
    """The filters of Nova and of the project, in the order of the manual."""
    sections = _sections(EXCERPT.read_text(encoding='utf-8'))
    return str(sections['filter_scheduler']['enabled_filters']).split(',')


class _Parser(iniparser.BaseParser):
    def __init__(self) -> None:
        super().__init__()
        self.sections: dict[str, dict[str, object]] = {}

    def new_section(self, section: str) -> None:
        self.sections[section] = {}

    def assignment(self, key: str, value: list[str]) -> None:
        options = list(self.sections.values())[-1]
        text = '\n'.join(value)
        # An option that is set several times has a list of values.
        earlier = options.get(key, [])
        if not isinstance(earlier, list):
            earlier = [earlier]
        options[key] = [*earlier, text] if earlier else text


def _sections(text: str) -> dict[str, dict[str, object]]:
    parser = _Parser()
    parser.parse(line.strip() for line in text.splitlines())
    return parser.sections


def _replaced(sections: Sections, values: Mapping[str, object]) -> Sections:
    replaced = {
        section: {key: value if isinstance(value, list)
                  else values.get(value, value)
                  for key, value in options.items()}
        for section, options in sections.items()}
    for section, options in replaced.items():
        for key, value in options.items():
            if any(word in str(value) for word in _PLACEHOLDERS):
                raise ManualChanged(f'[{section}] {key} = {value}: the cloud '
                                    'has no value for this option')
    return replaced


def _text() -> str:
    return INSTALL.read_text(encoding='utf-8')

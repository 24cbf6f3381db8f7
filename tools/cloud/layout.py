# SPDX-License-Identifier: Apache-2.0
"""The directory, the ports and the size of one cloud.

They are chosen once and stored in a file, which later processes read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
import json
import pathlib
import secrets

from tools.cloud.ports import ADDRESS, free_ports

_FILE = 'cloud.json'

LISTENERS = (
    'mariadb', 'rabbitmq', 'distribution', 'epmd', 'memcached', 'keystone',
    'short-keystone', 'placement', 'glance', 'nova', 'network', 'holistic',
    'heat')
REGION = 'RegionOne'


@dataclass(frozen=True, slots=True)
class Layout:
    """The directory, the ports and the size of one cloud.

    :ivar directory: absolute path of the directory of the cloud
    :ivar hosts: number of compute hosts
    :ivar password: the password of all users of the cloud and of its database
    :ivar ports: ports by the names of their services
    :ivar rack: number of hosts in each rack
    :ivar heat: whether Heat is one of its services
    :ivar options: by the name of a configuration file (``nova.conf``,
        ``compute.conf``, ``nova-holistic.conf``): sections whose options
        replace those that the cloud chooses
    :ivar rare_searches: whether Python searches less often for garbage in the
        services. Benchmarks measure services without this
    """

    directory: pathlib.Path
    hosts: int
    password: str
    ports: Mapping[str, int]
    rack: int = 5
    heat: bool = False
    options: Mapping[str, 'Sections'] = field(default_factory=dict)
    rare_searches: bool = False

    @classmethod
    def make(cls, directory: pathlib.Path, hosts: int,
             **options: object) -> 'Layout':
        """Choose free ports and a password, and store the layout.

        :param options: the fields ``rack``, ``heat``, ``options`` and
            ``rare_searches``
        """
        directory = directory.resolve()
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o700)
        layout = cls(directory, hosts, secrets.token_hex(12),
                     dict(zip(LISTENERS, free_ports(len(LISTENERS)))),
                     **options)
        (directory / _FILE).write_text(json.dumps(
            asdict(layout) | {'directory': str(directory)}, indent=1))
        return layout

    @classmethod
    def read(cls, directory: pathlib.Path) -> 'Layout':
        """Read the layout of the cloud in a directory.

        :raises FileNotFoundError: the directory contains no cloud
        """
        values = json.loads((directory.resolve() / _FILE).read_text())
        return cls(**values | {'directory': pathlib.Path(values['directory'])})

    def host_names(self) -> list[str]:
        return [f'compute-{number:03}'
                for number in range(1, self.hosts + 1)]

    def url(self, name: str, path: str = '') -> str:
        return f'http://{ADDRESS}:{self.ports[name]}{path}'

    @property
    def identity(self) -> str:
        return self.url('keystone', '/v3')

    @property
    def broker(self) -> str:
        return f'rabbit://guest:guest@{ADDRESS}:{self.ports["rabbitmq"]}/'

    def database(self, name: str) -> str:
        """The SQLAlchemy URL of the database of that name."""
        # The manual creates a user for the database of nova_holistic.
        user = 'holistic' if name == 'holistic' else 'cloud'
        return (f'mysql+pymysql://{user}:{self.password}@{ADDRESS}:'
                f'{self.ports["mariadb"]}/{name}?charset=utf8mb4')

    def log(self, name: str) -> pathlib.Path:
        return self._folder('log') / f'{name}.log'

    def state(self, name: str) -> pathlib.Path:
        """The folder for the data of a service."""
        return self._folder('state', name)

    def configuration(self, name: str) -> pathlib.Path:
        """The folder for the configuration files of a service."""
        return self._folder('etc', name)

    def with_options(self, name: str, sections: 'Sections') -> 'Sections':
        """The sections of the configuration file of that name, in which the
        options of the layout replace those of the cloud."""
        return merged(sections, self.options.get(name, {}))

    def _folder(self, *names: str) -> pathlib.Path:
        folder = self.directory.joinpath(*names)
        folder.mkdir(parents=True, exist_ok=True)
        return folder


Sections = Mapping[str, Mapping[str, object]]


def merged(*files: Sections) -> Sections:
    """The sections of all files. A later file replaces options of an earlier
    one."""
    sections: dict[str, dict[str, object]] = {}
    for each in files:
        for name, options in each.items():
            sections.setdefault(name, {}).update(options)
    return sections


def write(file: pathlib.Path, sections: Sections) -> pathlib.Path:
    """Write a configuration file.

    An option with a list of values is written once for each value. Only some
    options accept this.
    """
    lines = [line for name, options in sections.items()
             for line in (f'[{name}]', *_lines(options), '')]
    file.write_text('\n'.join(lines))
    return file


def _lines(options: Mapping[str, object]) -> Iterable[str]:
    for key, value in options.items():
        for each in value if isinstance(value, list) else [value]:
            yield f'{key} = {each}'

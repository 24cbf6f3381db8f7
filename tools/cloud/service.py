# SPDX-License-Identifier: Apache-2.0
"""A service of the cloud: prepared once, then started and stopped as needed.
"""

from collections.abc import Iterable, Mapping, Sequence
import json
import sys
import urllib.error
import urllib.request

from tools.cloud.layout import Layout, Sections
from tools.cloud import manual
from tools.cloud.processes import Processes, scripts
from tools.cloud.waiting import wait_for, WaitTimeout


class Service:
    """The base class of the services; each service has its own module.

    :cvar name: name of its processes and files, and of its port, if any
    """

    name = ''

    def __init__(self, layout: Layout, processes: Processes):
        self.layout = layout
        self.processes = processes

    def prepare(self) -> None:
        """Write its configuration files, and create its database."""

    def start(self) -> None:
        """Start its processes."""

    def wait(self) -> None:
        """Return when the service responds.

        :raises WaitTimeout: the service does not respond in time
        """

    def manage(self, script: str, commands: Iterable[Sequence[object]],
               environment: Mapping[str, str] | None = None) -> None:
        """Run commands of a script one after another.

        :param script: MODULE:FUNCTION, as in an entry point
        :raises WaitTimeout: a command failed
        """
        self.processes.run(f'{self.name}-manage', [
            sys.executable, '-m', 'tools.cloud.manage', script,
            json.dumps([[str(word) for word in words]
                        for words in commands])], environment)

    def wait_until(self, condition, name: str = '') -> None:
        """Wait until the condition is true.

        :param condition: function without arguments
        :param name: name of the process; the default is the name of the
            service
        :raises WaitTimeout: the condition does not become true, or the process
            has ended
        """
        name = name or self.name

        def ready() -> bool:
            if not self.processes.alive(name):
                raise WaitTimeout(
                    f'{name} ended: {self.processes.log_tail(name)}')
            return condition()

        wait_for(name, ready, pause=0.3)


class WebService(Service):
    """A WSGI application, served by uwsgi.

    :cvar workers: number of processes
    :cvar threads: number of threads of each process
    """

    application = ''
    workers = 1
    threads = 8

    def environment(self) -> Mapping[str, str]:
        """Environment variables with the path of its configuration."""
        return {}

    def options(self) -> Mapping[str, object]:
        """Additional options of uwsgi."""
        return {}

    def start(self) -> None:
        self.serve(self.name, self.environment())

    def serve(self, name: str, environment: Mapping[str, str]) -> None:
        # The command of the manual, with the ports and the size of this cloud.
        options = {
            **manual.uwsgi_options(),
            'processes': self.workers, 'threads': self.threads,
            'http-socket': f'127.0.0.1:{self.layout.ports[name]}',
            'module': f'{self.application}:application',
            'listen': 100, 'need-app': None, 'disable-logging': None,
            **self.options()}
        self.processes.start(name, [
            scripts('uwsgi'), *(
                word for option, value in options.items()
                for word in (f'--{option}', value) if word is not None),
        ], environment)

    def wait(self) -> None:
        self.wait_until(lambda: answers(self.layout.url(self.name, '/')))


def answers(url: str) -> bool:
    """Return whether the URL responds, with any status."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(url, timeout=60).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def database(layout: Layout, name: str) -> dict[str, object]:
    """Options for the database of a service."""
    return {
        'connection': layout.database(name),
        # By default, the pool keeps five connections, and each query beyond
        # them opens a new one.
        'max_pool_size': 64}


def policies(layout: Layout, name: str) -> Sections:
    """An empty file and an empty folder of policies.

    Without them, a service searches several folders for both in every check of
    a right, which takes a tenth of the processor time of nova-api.
    """
    folder = layout.configuration(name) / 'policy.d'
    folder.mkdir(exist_ok=True)
    file = layout.configuration(name) / 'policy.yaml'
    file.touch()
    return {'oslo_policy': {'policy_file': file, 'policy_dirs': folder}}


def credentials(layout: Layout) -> dict[str, object]:
    """Options for the service's own tokens."""
    return {
        'auth_type': 'password', 'auth_url': layout.identity,
        'username': 'service', 'password': layout.password,
        'project_name': 'service', 'user_domain_id': 'default',
        'project_domain_id': 'default', 'region_name': 'RegionOne',
        'valid_interfaces': 'public'}


def tokens(layout: Layout) -> Sections:
    """Sections for the validation of the tokens of clients."""
    own = credentials(layout)
    del own['valid_interfaces']
    return {'keystone_authtoken': own | {
        'www_authenticate_uri': layout.identity, 'interface': 'public',
        'service_token_roles_required': 'true',
        'memcached_servers': f'127.0.0.1:{layout.ports["memcached"]}'}}

# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ, with its own port mapper."""

from tests.services import rabbit
from tools.cloud.mariadb import listens
from tools.cloud.ports import ADDRESS
from tools.cloud.service import Service


class RabbitMQ(Service):
    name = 'rabbitmq'

    def start(self) -> None:
        ports = self.layout.ports
        if not self.processes.alive('epmd'):
            self.processes.start('epmd', [
                'epmd', '-address', ADDRESS, '-port', ports['epmd']])
            self.wait_until(lambda: listens(ports['epmd']), 'epmd')
        self.processes.start(
            'rabbitmq', [f'{rabbit.SCRIPTS}/rabbitmq-server'],
            rabbit.environment(self.layout.state('rabbitmq'),
                               ports['rabbitmq'], ports['distribution'],
                               ports['epmd']))

    def wait(self) -> None:
        self.wait_until(lambda: listens(self.layout.ports['rabbitmq']))

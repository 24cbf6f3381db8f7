# SPDX-License-Identifier: Apache-2.0
"""Placement, which creates its own tables when it starts."""

from collections.abc import Mapping

from tools.cloud.layout import write
from tools.cloud.service import database, policies, tokens, WebService


class Placement(WebService):
    name = 'placement'
    application = 'placement.wsgi.api'

    def prepare(self) -> None:
        write(self.layout.configuration('placement') / 'placement.conf', {
            'api': {'auth_strategy': 'keystone'},
            'placement_database': database(self.layout, 'placement') | {
                'sync_on_startup': 'true'},
            **policies(self.layout, self.name), **tokens(self.layout)})

    def environment(self) -> Mapping[str, str]:
        return {'OS_PLACEMENT_CONFIG_DIR':
                str(self.layout.configuration('placement'))}

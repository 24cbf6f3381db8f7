# SPDX-License-Identifier: Apache-2.0
"""Commands of the manual, which the cloud runs as operators do."""

import re
import shlex

from tools.cloud.processes import PROJECT

INSTALL = PROJECT / 'doc/source/admin/install.rst'


def uwsgi_options() -> dict[str, str | None]:
    """Options of the command that serves the API, without their dashes; None
    if an option has no value."""
    found = re.search(r'^ +uwsgi (--(?:.*\\\n)*.*)$',
                      INSTALL.read_text(encoding='utf-8'), re.MULTILINE)
    words = shlex.split(found[1].replace('\\\n', ' '))
    options: dict[str, str | None] = {}
    for word in words:
        if word.startswith('--'):
            name = word.removeprefix('--')
            options[name] = None
        else:
            options[name] = word
    return options

# SPDX-License-Identifier: Apache-2.0
"""Defaults of options during Nova's tests."""

from collections.abc import Mapping
import importlib.metadata
import pathlib
import shutil
from typing import Any

Defaults = Mapping[tuple[str | None, str], Any]
"""Values of options by their group and name."""


def nova_state(directory: pathlib.Path) -> Defaults:
    """Prepare a state path in which Nova's tests find api-paste.ini.

    The wheel installs this file elsewhere.

    :raises FileNotFoundError: the installed nova does not contain the file
    """
    target = directory / 'etc/nova'
    target.mkdir(parents=True)
    for path in importlib.metadata.files('nova') or ():
        if path.match('etc/nova/api-paste.ini'):
            shutil.copy(path.locate().resolve(), target)
            return {(None, 'state_path'): str(directory)}
    raise FileNotFoundError('the installed nova has no etc/nova/api-paste.ini')


def keep(defaults: Defaults) -> None:
    """Set other defaults of these options in each test that starts from now
    on.

    A test that sets an option still gets the value that it sets. Nova's
    fixture of the configuration removes the defaults at the end of each test.
    Import ``nova.tests`` first.
    """
    from nova.tests.fixtures import conf as conf_fixtures

    original = conf_fixtures.ConfFixture.setUp

    def set_up(fixture):
        original(fixture)
        for (group, name), value in defaults.items():
            fixture.conf.set_default(name, value, group=group)

    conf_fixtures.ConfFixture.setUp = set_up

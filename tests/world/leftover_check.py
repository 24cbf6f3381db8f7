# SPDX-License-Identifier: Apache-2.0
"""The fixture that checks what a test has left in the table and Placement.

A ``conftest.py`` imports it where tests use a world. A test that
intentionally ends while table and Placement differ has a marker::

    @pytest.mark.leaves('the server was moved in the scenario alone')

The mark is an error where they agree.
"""

import pytest

WORLDS = 'world', 'rabbit_world'
"""Fixtures that give a world."""


@pytest.fixture(autouse=True)
def leaves_nothing(request):
    """After the test, table and Placement agree in each world it used."""
    worlds = [request.getfixturevalue(name) for name in WORLDS
              if name in request.fixturenames]
    yield
    declared = request.node.get_closest_marker('leaves')
    for world in worlds:
        if declared is None:
            world.assert_nothing_left()
        elif not world.disagreements():
            pytest.fail('The test leaves nothing, though it has a mark: '
                        f'{declared.args[0]}')

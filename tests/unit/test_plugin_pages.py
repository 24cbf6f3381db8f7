# SPDX-License-Identifier: Apache-2.0
"""The manual's pages about plug-ins describe their complete interfaces, and
the manual explains each objective."""

import pathlib
import re

import pytest
from stevedore import ExtensionManager

import nova_holistic
from nova_holistic.model.objective import Objective
from nova_holistic.model.policy import Encoder, Policy

MANUAL = pathlib.Path(nova_holistic.__file__).parents[1] / 'doc/source'


def _page(name, folder='contributor'):
    return (MANUAL / folder / name).read_text()


def _interface(base):
    """Public attributes and methods that the class declares itself."""
    return sorted(name for name in {*vars(base), *base.__annotations__}
                  if not name.startswith('_'))


@pytest.mark.parametrize('name', _interface(Policy))
def test_the_page_about_policies_describes_each_attribute(name):
    literals = re.findall('``([^`]+)``', _page('adding-a-policy.rst'))
    assert any(re.search(rf'\b{name}\b', text) for text in literals)


@pytest.mark.parametrize('name', _interface(Encoder))
def test_the_page_about_policies_lists_each_attribute_of_the_encoder(name):
    assert f'``encoder.{name}' in _page('adding-a-policy.rst')


@pytest.mark.parametrize('name', sorted(
    {*_interface(Objective)} - {'name'}))
def test_the_page_about_plugins_describes_each_attribute_of_objectives(name):
    assert re.search(rf'``{name}\b', _page('adding-a-plugin.rst'))


@pytest.mark.parametrize('name', sorted(
    ExtensionManager('nova_holistic.objectives').names()))
def test_the_manual_explains_each_objective(name):
    assert f'\n   * - ``{name}``\n     - The ' in _page(
        'concepts.rst', 'user')

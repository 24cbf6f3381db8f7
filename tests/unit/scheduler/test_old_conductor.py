# SPDX-License-Identifier: Apache-2.0
"""An old conductor sends filter properties instead of a request spec."""

import importlib

import pytest

from nova_holistic.scheduler import driver


def hints_of(filter_properties):
    manager = driver.load('holistic_scheduler')
    module = importlib.import_module(manager.__module__)
    return module._hints(manager._sentinel, filter_properties)


def test_its_hints_are_in_the_filter_properties():
    hints = {'holistic_group': ['id']}
    assert hints_of({'scheduler_hints': hints}) == hints


@pytest.mark.parametrize('filter_properties', [
    None, {}, {'scheduler_hints': None}, '', 'properties', ['properties']])
def test_without_hints_stock_nova_gets_the_request(filter_properties):
    assert hints_of(filter_properties) == {}

# SPDX-License-Identifier: Apache-2.0
"""Placements that share a database do not affect each other."""

import fixtures
import jsonschema
from placement.db.sqlalchemy import models
import pytest
import sqlalchemy as sa

from nova_holistic.embedded.host import EmbeddedHost
from tests.functional.placement_service import PlacementService

VERSION = '1.38'


def names(service, path, key):
    found = service.adapter.get(path, microversion=VERSION).json()[key]
    return {each['name'] if isinstance(each, dict) else each
            for each in found}


def content(service):
    """Names of all objects that clients can add to a Placement."""
    return (names(service, '/resource_providers', 'resource_providers'),
            names(service, '/resource_classes', 'resource_classes'),
            names(service, '/traits', 'traits'))


def test_the_next_placement_has_what_a_new_one_has():
    with PlacementService() as first:
        new = content(first)
        host = first.add_host('cmp-1')
        first.allocate(host, {'VCPU': 1})
        for path in ('/resource_classes/CUSTOM_METAL', '/traits/CUSTOM_FAST'):
            assert first.adapter.put(
                path, microversion=VERSION).status_code == 201
        assert first.adapter.put(
            f'/resource_providers/{host}/aggregates', microversion=VERSION,
            json={'aggregates': [host], 'resource_provider_generation': 2},
        ).status_code == 200
        assert all(now > before for now, before in zip(content(first), new))
    with PlacementService() as second:
        assert content(second) == new
        # Neither the name nor the class exists before.
        host = second.add_host('cmp-1')
        assert second.used(host) == {'VCPU': 0, 'MEMORY_MB': 0}


def test_copied_hosts_are_like_those_that_were_added():
    wanted, seen = (['cmp-1', 'cmp-2'], 3, 1536), []
    for _ in range(2):
        with PlacementService() as service:
            hosts = service.add_hosts(*wanted)
            seen.append({name: service.adapter.get(
                f'/resource_providers/{hosts[name]}/inventories',
                microversion=VERSION).json() for name in hosts})
            service.allocate(hosts['cmp-1'], {'VCPU': 3})
            assert service.used(hosts['cmp-1'])['VCPU'] == 3
    assert seen[0] == seen[1]
    assert seen[0]['cmp-2']['inventories']['VCPU']['total'] == 3


def test_an_option_of_one_is_no_option_of_the_next():
    """The options of a PlacementService do not apply to the next one."""
    with PlacementService() as first:
        default = first.conf.placement.max_allocation_candidates
        first.conf.set_override(
            'max_allocation_candidates', 1, group='placement')
    with PlacementService() as second:
        assert second.conf.placement.max_allocation_candidates == default


def test_a_schema_is_checked_in_the_first_request_only(monkeypatch):
    checked = []
    original = jsonschema.Draft202012Validator.check_schema
    monkeypatch.setattr(
        jsonschema.Draft202012Validator, 'check_schema',
        lambda schema: checked.append(schema) or original(schema))
    with PlacementService() as service:
        for number in range(3):
            service.add_host(f'cmp-{number}')
            # The body of each request is still validated.
            assert service.adapter.post(
                '/resource_providers', json={'name': number},
                microversion=VERSION, raise_exc=False).status_code == 400
    assert len(checked) == len({id(schema) for schema in checked}) == 2


def test_a_second_running_cloud_is_refused():
    """Only one PlacementService can run in a process at a time."""
    with PlacementService():
        with pytest.raises(fixtures.MultipleExceptions, match='still runs'):
            PlacementService().setUp()


def test_beside_an_embedded_cloud_each_has_its_own_hosts(start_cloud):
    cloud = start_cloud([EmbeddedHost('only')], scheduler='stock')
    with PlacementService() as service:
        service.add_host('other')
        assert content(service)[0] == {'other'}
    assert set(cloud.providers()) == {'only'}
    cloud.create_flavor('small', 2, 2048, 10)
    cloud.wait_for_status(cloud.create_server('one', 'small'), 'ACTIVE')


def test_a_table_of_placement_has_one_alias_of_each_name():
    table = models.ResourceProvider.__table__
    with PlacementService():
        assert sa.alias(table, 'rp') is sa.alias(table, name='rp')
        assert sa.alias(table, 'rp') is not sa.alias(table, 'root')
        # Without a name, each alias is a separate source of rows.
        assert sa.alias(table) is not sa.alias(table)
    assert sa.alias(table, 'rp') is not sa.alias(table, 'rp')

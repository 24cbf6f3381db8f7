# SPDX-License-Identifier: Apache-2.0
"""Hosts have the locations in the metadata of their aggregates."""

import pytest

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.aggregates import AggregatesTopology
from nova_holistic.topology.base import Aggregate, Location
from nova_holistic.topology.errors import AmbiguousLocation, InvalidLevels


def aggregate(name, *hosts, **metadata):
    return Aggregate(name, f'uuid-of-{name}', frozenset(hosts),
                     FrozenMapping(metadata))


AZ1 = aggregate('zone-1', 'a', 'b', availability_zone='az1')
AZ2 = aggregate('zone-2', 'c', availability_zone='az2')


def test_a_host_is_located_in_its_zone_and_rack():
    topology = AggregatesTopology(['az', 'rack', 'host'])
    located = topology.locate(
        ['a', 'c'], [AZ1, AZ2, aggregate('left', 'a', rack='r1'),
                     aggregate('right', 'c', rack='r2')])
    assert located == {
        'a': Location(('az1', 'r1'), availability_zone='az1'),
        'c': Location(('az2', 'r2'), availability_zone='az2')}


def test_racks_with_one_name_in_two_zones_are_separate():
    topology = AggregatesTopology(['az', 'rack', 'host'])
    located = topology.locate(
        ['a', 'c'], [AZ1, AZ2, aggregate('first', 'a', 'c', rack='rack1')])
    a, c = (Host(name, name, '', located[name].path, FrozenMapping())
            for name in 'ac')
    snapshot = Snapshot(topology.levels, (a, c))
    assert snapshot.domain(a, 'rack') != snapshot.domain(c, 'rack')


def test_two_aggregates_may_agree_on_a_rack():
    topology = AggregatesTopology(['rack', 'host'])
    located = topology.locate('a', [aggregate('one', 'a', rack='r1'),
                                    aggregate('two', 'a', rack='r1')])
    assert located['a'].path == ('r1',)


ONE = aggregate('one', 'a', rack='r1')
TWO = aggregate('two', 'a', 'b', rack='r2')


def test_a_host_whose_aggregates_disagree_is_in_no_rack():
    """All other hosts keep their racks."""
    topology = AggregatesTopology(['room', 'rack', 'chassis', 'host'])
    located = topology.locate('ab', [
        aggregate('room', 'a', 'b', room='m1'), ONE, TWO,
        aggregate('box', 'a', 'b', chassis='c1')])
    assert located['a'].path == ('m1',)
    assert located['b'].path == ('m1', 'r2', 'c1')


def test_a_host_whose_aggregates_disagree_has_no_label():
    topology = AggregatesTopology(['host'], ['rack'])
    located = topology.locate('ab', [ONE, TWO])
    assert located['a'].labels == {}
    assert located['b'].labels == {'rack': 'r2'}


def test_two_aggregates_that_disagree_are_both_logged(caplog):
    AggregatesTopology(['rack', 'host']).locate('a', [ONE, TWO])
    (record,) = caplog.records
    assert record.levelname == 'ERROR'
    for word in ('host a ', 'level rack', "aggregate one says 'r1'",
                 "aggregate two says 'r2'", 'host without a domain'):
        assert word in record.getMessage()


def test_a_disagreement_is_logged_again_only_after_it_ended(caplog):
    topology = AggregatesTopology(['rack', 'host'])

    def logged(hosts, *aggregates):
        caplog.clear()
        topology.locate(hosts, aggregates)
        return len(caplog.records)

    assert logged('ab', ONE, TWO) == 1
    assert logged('ab', ONE, TWO) == 0
    # Nothing is known about hosts that are not requested.
    assert logged('b', TWO) == 0
    assert logged('a', ONE, TWO) == 0
    assert logged('a', ONE) == 0
    assert logged('a', ONE, TWO) == 1


@pytest.mark.parametrize('levels', [['az', 'host'], ['rack', 'host']])
def test_a_host_in_two_zones_is_an_error(levels):
    topology = AggregatesTopology(levels)
    with pytest.raises(AmbiguousLocation, match=(
            "host a is in two domains of level az: aggregate other says 'az3'"
            ", aggregate zone-1 says 'az1'")):
        topology.locate('a', [
            AZ1, aggregate('other', 'a', availability_zone='az3')])


def test_conflicting_metadata_outside_the_levels_is_ignored():
    topology = AggregatesTopology(['az', 'host'])
    located = topology.locate('a', [aggregate('one', 'a', rack='r1'),
                                    aggregate('two', 'a', rack='r2')])
    assert located['a'].path == ('nova',)


def test_the_location_of_a_host_ends_at_a_missing_level():
    topology = AggregatesTopology(['room', 'rack', 'chassis', 'host'])
    located = topology.locate('ab', [
        aggregate('room', 'a', 'b', room='m1'),
        aggregate('rack', 'a', rack='r1'),
        aggregate('box', 'a', 'b', chassis='c1')])
    assert located['a'].path == ('m1', 'r1', 'c1')
    assert located['b'].path == ('m1',)


def test_a_host_in_no_aggregate_is_in_the_default_zone():
    topology = AggregatesTopology(['az', 'host'], default_zone='internal')
    located = topology.locate(['lone'], [AZ1])
    assert located['lone'] == Location(
        ('internal',), availability_zone='internal')


def test_the_availability_zone_is_read_without_a_level_az():
    topology = AggregatesTopology(['rack', 'host'])
    located = topology.locate('a', [AZ1, aggregate('one', 'a', rack='r1')])
    assert located['a'] == Location(('r1',), availability_zone='az1')


def test_labels_are_levels_outside_the_tree():
    topology = AggregatesTopology(['az', 'host'], ['power_feed'])
    located = topology.locate(
        'ab', [AZ1, aggregate('feed', 'a', power_feed='A')])
    assert located['a'].labels == {'power_feed': 'A'}
    assert located['a'].path == ('az1',)
    assert located['b'].labels == {}


def test_hosts_of_aggregates_that_are_not_requested_are_ignored():
    topology = AggregatesTopology(['az', 'host'])
    assert set(topology.locate(['a'], [AZ1, AZ2])) == {'a'}


@pytest.mark.parametrize(('levels', 'labels', 'message'), [
    ([], [], 'must be host'),
    (['az', 'rack'], [], 'must be host, not rack'),
    (['az', 'az', 'host'], [], 'az is named twice'),
    (['az', 'host'], ['az'], 'az is named twice'),
    (['az', 'host'], ['host'], 'host is named twice'),
    (['', 'host'], [], 'no name'),
])
def test_invalid_levels_are_refused(levels, labels, message):
    with pytest.raises(InvalidLevels, match=message):
        AggregatesTopology(levels, labels)

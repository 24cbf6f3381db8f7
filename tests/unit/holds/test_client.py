# SPDX-License-Identifier: Apache-2.0
"""Decisions of the client of Placement before it sends a request."""

from dataclasses import replace

from keystoneauth1.adapter import Adapter
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session
from oslo_config import cfg
import pytest
import requests

from nova_holistic import conf as options
from nova_holistic.holds.client import allocations, HoldClient, PART_SIZE
from nova_holistic.holds import errors
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.records import MemberRecord, MemberState, Place

PROVIDER = '5c6c6f6e-0000-4000-8000-000000000001'


@pytest.fixture
def conf():
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    return conf


def member(**resources):
    wanted = Requirements(resources=FrozenMapping(resources))
    return MemberRecord(
        id=1, group_uuid=PROVIDER, member=Member('web', 'web', wanted),
        place=Place('cmp-1', 'cmp-1', PROVIDER), hold=PROVIDER, held=True,
        state=MemberState.PLANNED)


def test_holds_of_the_groups_project_need_no_options(conf):
    HoldClient.from_conf(conf, placement=None)


def test_a_service_project_needs_project_id_and_user_id(conf):
    conf.set_override('project', 'service', group='holds')
    conf.set_override('project_id', 'holistic', group='holds')
    with pytest.raises(errors.HoldsError, match='project_id and user_id'):
        HoldClient.from_conf(conf, placement=None)
    conf.set_override('user_id', 'planner', group='holds')
    HoldClient.from_conf(conf, placement=None)


def test_the_size_of_a_part_is_at_least_one_hold(conf):
    assert conf.holds.part_size == PART_SIZE
    with pytest.raises(ValueError):
        conf.set_override('part_size', 0, group='holds')


def test_certificates_that_were_removed_are_no_response(conf):
    """requests then raises an OSError, which keystoneauth does not convert."""
    session = Session(NoAuth(endpoint='https://127.0.0.1:9'),
                      verify='/nonexistent/ca.pem')
    with pytest.raises(errors.NoResponse, match='/nonexistent/ca.pem'):
        HoldClient.from_conf(conf, Adapter(
            session, service_type='placement')).providers()


class Recorder:
    """Placement's adapter. It accepts everything.

    :ivar sizes: number of consumers of each request
    """

    def __init__(self):
        self.sizes = []

    def request(self, path, method, json, **kwargs):
        self.sizes.append(len(json))
        answer = requests.Response()
        answer.status_code = 204
        return answer


def test_the_configuration_sets_the_size_of_a_part(conf):
    conf.set_override('part_size', 3, group='holds')
    placement = Recorder()
    HoldClient.from_conf(conf, placement).put(
        [replace(member(VCPU=1), hold=str(number)) for number in range(7)],
        'blue', 'ann')
    assert placement.sizes == [3, 3, 1]


def test_a_member_that_needs_no_disk_allocates_none():
    """Placement refuses an amount of zero."""
    assert allocations(member(VCPU=2, MEMORY_MB=512, DISK_GB=0)) == {
        PROVIDER: {'resources': {'VCPU': 2, 'MEMORY_MB': 512}}}

# SPDX-License-Identifier: Apache-2.0
"""Users receive only texts that were written for users."""

import logging

import pytest

from nova_holistic.api.views.reasons import visible_reasons
from nova_holistic.engine import errors
from nova_holistic.engine import reasons
from nova_holistic.exceptions import HolisticError, InvalidDocument
from nova_holistic.holds.errors import CapacityUnavailable, HoldsError
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging import errors as rpc_errors
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.table.errors import TableError
from nova_holistic.topology.errors import AmbiguousLocation
from nova_holistic.topology.option_file import in_file

TEXT = 'host cmp-1 at http://10.0.0.1 is unwell'

UNLISTED = [
    HolisticError(TEXT), ServiceFailed('nova', '/cmp-1', 'no answer'),
    HoldsError(TEXT), TableError(TEXT), errors.OwnershipLost(TEXT),
    rpc_errors.EngineFailed(TEXT), ValueError(TEXT),
    AmbiguousLocation('cmp-1', 'rack', ('one', 'r1'), ('two', 'r2')),
    in_file('/etc/cmp-1.yaml', InvalidDocument('hosts[0].name', TEXT))]


def read(reason, hosts=False):
    (found,) = visible_reasons([reason.to_row()], hosts)
    return found['message']


@pytest.mark.parametrize('error', UNLISTED, ids=lambda e: type(e).__name__)
def test_no_other_text_reaches_users(error, caplog):
    caplog.set_level(logging.ERROR)
    with RequestContext(request_id='req-of-ann').logged():
        reason = reasons.of_error(error)
    assert read(reason) == (
        'the request could not be carried out; the operator finds the '
        'details in the log under request req-of-ann')
    assert reason.at == ''
    assert read(reason, hosts=True) == str(error)
    assert 'cmp-1' in caplog.text


def test_outside_a_request_no_id_is_reported(monkeypatch):
    monkeypatch.setattr(reasons.oslo_context, 'get_current', lambda: None)
    assert read(reasons.of_error(HolisticError(TEXT))).endswith('in the log')


def test_mistakes_of_a_definition_reach_users():
    reason = reasons.of_error(InvalidDocument(
        'members[0].flavor', "unknown flavor 'x'"))
    assert reason.at == 'members[0].flavor'
    assert read(reason) == read(reason, hosts=True) == "unknown flavor 'x'"


def test_marked_names_in_a_mistake_do_not_reach_users():
    reason = reasons.of_error(InvalidDocument(
        'placed[web]', format_message("unknown host '{:name}'", 'cmp-1')))
    assert read(reason) == "unknown host '…'"
    assert read(reason, hosts=True) == "unknown host 'cmp-1'"


def test_the_detail_of_a_reason_does_not_reach_users():
    reason = reasons.with_detail(
        'the plan was outdated', CapacityUnavailable(TEXT))
    assert read(reason) == 'the plan was outdated'
    assert read(reason, hosts=True) == (
        f'the plan was outdated; last attempt: {TEXT}')


def test_texts_of_an_engine_reach_users():
    assert read(reasons.of_engine('3 engines stopped')) == '3 engines stopped'

# SPDX-License-Identifier: Apache-2.0
"""Errors are sent to another process, which raises them again."""

import json

import pytest

from nova_holistic.exceptions import HolisticError, InvalidDocument
from nova_holistic.holds.errors import CapacityUnavailable
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.messaging import error_documents
from nova_holistic.messaging import errors
from nova_holistic.table import errors as table_errors


@pytest.mark.parametrize('error', [
    HolisticError('so'), InvalidDocument('groups[1].name', 'is too long'),
    errors.GroupBusy('it is being planned'), CapacityUnavailable('no room'),
    table_errors.GroupUnknown('5f0c'),
    table_errors.MemberUnknown('5f0c', 'db/node'),
    ServiceFailed('nova', '/servers', 'no answer')], ids=repr)
def test_an_error_keeps_its_class_text_and_fields(error):
    sent = json.dumps(error_documents.to_document(error))
    arrived = error_documents.from_document(json.loads(sent))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


def test_all_mistakes_of_a_document_arrive():
    error = InvalidDocument('a', 'one', [InvalidDocument('b', 'two')])
    sent = error_documents.to_document(error)
    arrived = error_documents.from_document(json.loads(json.dumps(sent)))
    assert [(each.place, each.message) for each in arrived.mistakes] == [
        ('a', 'one'), ('b', 'two')]
    del sent['more']
    assert len(error_documents.from_document(sent).mistakes) == 1


def test_an_unknown_error_class_arrives_as_its_known_base():
    class UnknownError(errors.GroupBusy):
        """An error class of a driver that only one side has."""

    arrived = error_documents.from_document(
        error_documents.to_document(UnknownError('busy')))
    assert (type(arrived), str(arrived)) == (errors.GroupBusy, 'busy')


@pytest.mark.parametrize('name', [
    'os.system', 'builtins.SystemExit', 'nova_holistic.exceptions.Nothing'])
def test_a_foreign_class_name_arrives_as_holistic_error(name):
    arrived = error_documents.from_document(
        {'class': name, 'text': 'x', 'fields': {}})
    assert type(arrived) is HolisticError


def test_a_renamed_class_keeps_its_name_in_messages():
    """Processes of two versions work together during an upgrade."""
    sent = error_documents.to_document(CapacityUnavailable('no room'))
    assert sent['class'] == 'nova_holistic.holds.errors.CapacityGone'

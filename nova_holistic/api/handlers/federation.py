# SPDX-License-Identifier: Apache-2.0
"""The children of a parent of a federation, and the credentials for them."""

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api import errors
from nova_holistic.api.views import federation as views
from nova_holistic.documents.validation import brief
from nova_holistic.federation.credentials.registrations import Registrations
from nova_holistic.federation.credentials.user import User


def list_children(call: Call) -> webob.Response:
    """List the clouds in which this parent of a federation places groups."""
    return answer(200, {'children': [
        views.child(child) for child in _registrations(call).children(
            _user(call))]})


def register(call: Call) -> webob.Response:
    """Register an application credential of the user for a cloud.

    It is used only for requests of this user in this project.
    """
    credential = call.body['credential']
    _registrations(call).register(
        _user(call), call.names['child'], credential['id'],
        credential['secret'])
    return answer(204)


def unregister(call: Call) -> webob.Response:
    """Delete the registered application credential of the user for a cloud."""
    _registrations(call).delete(_user(call), call.names['child'])
    return answer(204)


def _registrations(call: Call) -> Registrations:
    """:raises ApiError: 404, this service is not a parent"""
    registrations = call.service.credentials
    if registrations is None:
        raise errors.ApiError(
            404, 'not_found', 'this service is not a parent of a federation, '
            f'and has no {brief(call.request.path_info)}')
    return registrations


def _user(call: Call) -> User:
    return User(call.context.user_id, call.context.project_id)

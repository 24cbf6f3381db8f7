# SPDX-License-Identifier: Apache-2.0
"""The group API as objects, on a keystoneauth session."""

from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1.session import Session

from nova_holistic.client import errors
from nova_holistic.client.groups import Groups
from nova_holistic.client.plans import Plans

SERVICE_TYPE = 'holistic'
DEFAULT_MICROVERSION = '1.0'


class Client:
    """Groups and plans of the project of the session.

    :ivar groups: see ``Groups``
    :ivar plans: see ``Plans``
    """

    def __init__(self, session: Session, *,
                 microversion: str = DEFAULT_MICROVERSION, **options: Any):
        """
        :param options: options of a keystoneauth Adapter: ``interface``,
            ``region_name``, ``endpoint_override``, ...
        """
        options.setdefault('service_type', SERVICE_TYPE)
        self._adapter = Adapter(
            session, default_microversion=microversion,
            client_name='nova-holistic', **options)
        self.groups = Groups(self.request)
        self.plans = Plans(self.request)

    def request(self, method: str, path: str, *, body: Any = None,
                headers: dict[str, str] | None = None,
                query: dict[str, Any] | None = None,
                since: str = DEFAULT_MICROVERSION) -> Any:
        """The document of the response; None if the response has none.

        :param path: below ``/v1``
        :param since: the first microversion that has the operation; it is
            requested if the microversion of the client is the first one
        :raises Refused: the API refused the request, or is unavailable, or
            the response is not JSON
        """
        options: dict[str, Any] = {} if body is None else {'json': body}
        if self._adapter.default_microversion == DEFAULT_MICROVERSION:
            options['microversion'] = since
        try:
            response = self._adapter.request(
                '/v1' + path, method, headers=headers or {},
                params=query or {}, **options)
        except ks_exceptions.HttpError as error:
            raise errors.refused(error) from error
        except ks_exceptions.ClientException as error:
            raise errors.unanswered(error) from error
        return errors.body_of(response) if response.content else None

# SPDX-License-Identifier: Apache-2.0
"""Clients that send the body of a request later than its header, as clients on
busy machines do."""

import json
import socket
import time

PAUSE = 5
"""Delay of the body in seconds. By default, uwsgi waits four seconds for
it."""
PLAN = json.dumps({'group': {'name': 'late', 'members': [
    {'name': 'node', 'flavor': 'tiny'}]}}).encode()


def request_of(cloud, session):
    """The header of a request for a plan, and the address of the API."""
    address = '127.0.0.1', cloud.layout.ports['holistic']
    return address, '\r\n'.join([
        'POST /v1/plans HTTP/1.1', 'Host: %s:%d' % address,
        f'X-Auth-Token: {session.get_token()}',
        'OpenStack-API-Version: holistic latest',
        'Content-Type: application/json', f'Content-Length: {len(PLAN)}',
        '', '']).encode()


def answer(connection):
    """The status and the body of the response."""
    text = b''.join(iter(lambda: connection.recv(65536), b'')).decode()
    header, _, body = text.partition('\r\n\r\n')
    return int(header.split()[1]), json.loads(body)


def test_a_body_may_arrive_later_than_its_header(cloud, demo):
    address, header = request_of(cloud, demo)
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(header)
        time.sleep(PAUSE)
        connection.sendall(PLAN)
        status, body = answer(connection)
    # An engine may have planned the group already.
    assert status in (201, 202)
    assert body['plan']['id']


def test_a_body_that_ends_too_early_is_refused(cloud, demo):
    address, header = request_of(cloud, demo)
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(header + PLAN[:-2])
        connection.shutdown(socket.SHUT_WR)
        status, body = answer(connection)
    assert status == 400
    assert 'did not arrive completely in time' in json.dumps(body)

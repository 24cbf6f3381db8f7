# SPDX-License-Identifier: Apache-2.0
"""Responses of a Cinder with one pool. A real Cinder cannot run in the process
of Nova: see tests/cinder."""

import webob.dec

ANSWERS = {
    '/types': {'volume_types': []},
    '/types/default': {'volume_type': {'name': 'fast'}},
    '/os-services': {'services': [
        {'binary': 'cinder-volume', 'host': 'storage-1@lvm', 'zone': 'az1',
         'status': 'enabled', 'state': 'up'}]},
    '/scheduler-stats/get_pools': {'pools': [
        {'name': 'storage-1@lvm#pool', 'capabilities': {
            'total_capacity_gb': 10, 'free_capacity_gb': 8}}]},
}


@webob.dec.wsgify
def storage(request):
    return webob.Response(json_body=ANSWERS[request.path_info])

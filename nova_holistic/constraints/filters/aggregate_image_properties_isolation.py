# SPDX-License-Identifier: Apache-2.0
"""AggregateImagePropertiesIsolation: each property of the image that is a
metadata key of the host's aggregates has one of the values of this key."""

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)
from nova_holistic.model.nova.image_fields import fields_of


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    if request.image is None:
        return None
    namespace = options.aggregate_image_properties_isolation_namespace
    prefix = namespace + (
        options.aggregate_image_properties_isolation_separator
    ) if namespace else ''
    # Nova ignores properties that are false, 0 or an empty text.
    properties = {
        key: str(value)
        for key, value in fields_of(request.image.properties).items()
        if key.startswith(prefix) and value}
    if not properties:
        return None

    def admits(facts: HostFacts) -> bool:
        return all(value in facts.metadata[key] for key, value
                   in properties.items() if key in facts.metadata)

    return admits

# SPDX-License-Identifier: Apache-2.0
"""Keeps the validators of Nova's API, which creates a class for the validation
of each request."""

import fixtures
from nova.api.validation import validators as nova_validators


class KeptValidators(fixtures.Fixture):
    """While it is active, Nova's API keeps the validator of each schema."""

    def _setUp(self):
        self._kept = {}
        self._make = nova_validators._SchemaValidator
        self.useFixture(fixtures.MonkeyPatch(
            'nova.api.validation.validators._SchemaValidator',
            self.validator))

    def validator(self, schema, *options):
        """The validator that Nova creates for the schema and the options.

        :param options: further arguments of Nova's class of validators
        """
        key = id(schema), *options
        if key not in self._kept:
            # The reference prevents another schema from getting the same ID.
            self._kept[key] = schema, self._make(schema, *options)
        return self._kept[key][1]

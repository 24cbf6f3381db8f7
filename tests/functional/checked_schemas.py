# SPDX-License-Identifier: Apache-2.0
"""Prepares each JSON schema of Placement and Nova once, instead of in every
request.

``jsonschema.validate``, which Placement calls, first validates the schema
itself. This takes a tenth of the processor time of a cloud in one process.
Nova creates a class for the validation of each request.
"""

import fixtures
from jsonschema import exceptions, validators
from nova.api.validation import validators as nova_validators


class CheckedSchemas(fixtures.Fixture):
    """While it is active, ``jsonschema.validate`` checks each schema once."""

    def _setUp(self):
        self._checked = {}
        self.useFixture(fixtures.MonkeyPatch(
            'jsonschema.validate', self.validate))

    def validate(self, instance, schema, cls=None, **options):
        """Validate as ``jsonschema.validate`` does.

        :raises jsonschema.SchemaError: the schema is invalid
        :raises jsonschema.ValidationError: the instance does not match the
            schema
        """
        cls = cls or validators.validator_for(schema)
        if id(schema) not in self._checked:
            cls.check_schema(schema)
            # The reference prevents another schema from getting the same ID.
            self._checked[id(schema)] = schema
        error = exceptions.best_match(
            cls(schema, **options).iter_errors(instance))
        if error is not None:
            raise error


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

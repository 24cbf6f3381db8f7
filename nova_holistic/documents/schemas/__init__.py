# SPDX-License-Identifier: Apache-2.0
"""JSON schemas (draft 2020-12) of the documents, one module a document.

``description`` completes the sentence "must be …" where a keyword alone
would make a poor message. Keywords stand in the order in which their
errors are best told: unknown keys come before missing ones.
"""

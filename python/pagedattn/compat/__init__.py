"""Signatures of other libraries over the operators of this package."""

"""Paged attention scoring, selection and grouped matrix products.

``pagedattn.formats``
    Narrow number formats and the memory layouts that the operators accept.
``pagedattn.reference``
    What each operator means, in float64 NumPy.
"""

"""Landmark systems in miniature: the models that a notebook and a sweep share, one file each."""

"""`kubectl ome runtime explain|effective|tree` for what a bundle holds: a model over objects, and how it is printed.

`selection` lists the runtimes that OME may choose for a model, `effective` puts a service's runtime as it is now beside the one
that it is pinned to (`modes`, `revisions`, `contents`; printed by `views`), `tree` shows who inherits from whom and who uses it
(printed by `branches`). Source of all meanings: OME's kubectl plugin and its documentation, as of v1.3.
"""

"""`triage collect`: what is relevant of a live cluster, in one redacted tarball. Only GET is ever sent.

`plan` says what is taken (data in plan.yaml), `api` talks to the server, `lists` takes the objects, `logs` the logs,
`spool` keeps them on disk until `archive` writes the bundle, `run` puts it all in order.
"""

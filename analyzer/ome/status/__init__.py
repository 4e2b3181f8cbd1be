"""`kubectl ome status` for what a bundle holds: why an InferenceService is or is not ready, in one page.

A module a section (`conditions`, `pods`, `events`, `rollout`, `autoscale`, `placement`, `traffic`, `summaries`), each a pure
function over objects that gives a frozen value; `report` puts them together, `page` prints them. Source of all meanings: OME's
kubectl plugin and its documentation, as of v1.3.
"""

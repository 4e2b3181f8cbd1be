"""OME (ome.io) as its own command line and controller read it: a pure model over objects, no database, no printing to a screen.

`world` holds the objects of one bundle with what is known of those that are not there. `active` says which runtime
configuration is in force for an InferenceService (`live`, `pins`, `candidates`, `inherit`), `requests` what its serving container
asks for, `explain` puts it all into the report of `kubectl ome accelerator explain`, and `printing` prints that.
`classes` works out which AcceleratorClass the controller must have picked. Source of all meanings: OME's API types
(ome.io/v1beta1), its controller and its kubectl plugin, as of v1.3.
"""

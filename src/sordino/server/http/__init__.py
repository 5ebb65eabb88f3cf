"""HTTP: the API under ``/v1`` and the console, both over one `Service`."""

"""The bundled model: installed as the package `cortext.models.bundled`."""

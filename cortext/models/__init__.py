"""Embedding models: which there are, whether a file is the right one, loading it."""

from cortext.models.loader import Encoder, Model, load
from cortext.models.registry import ModelSpec

__all__ = ["Encoder", "Model", "ModelSpec", "load"]

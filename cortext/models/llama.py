"""Loading a GGUF file through llama-cpp-python's own structs, for the C core to run.

llama.cpp's parameter structs change between versions; its Python binding follows them, so they are
filled here and never mirrored in C.  What C gets is addresses.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from cortext import _native
from cortext.errors import ModelError

_POOLING_NONE = 0
_FLASH_ATTENTION_DISABLED = 0
_BATCH_FIELDS = ("n_tokens", "token", "embd", "pos", "n_seq_id", "seq_id", "logits")
_FUNCTIONS = {
    "log_set": "llama_log_set",
    "model_get_vocab": "llama_model_get_vocab",
    "model_n_embd": "llama_model_n_embd",
    "model_free": "llama_model_free",
    "free_context": "llama_free",
    "tokenize": "llama_tokenize",
    "encode": "llama_encode",
    "get_embeddings": "llama_get_embeddings",
    "n_ubatch": "llama_n_ubatch",
}


def load(
    path: Path, *, context: int, threads: int, wordpiece: bool, only_tokenizer: bool = False
) -> _native.LlamaBinding:
    """Load model and context and give their addresses.

    path: a verified GGUF file.  context: most tokens in one pass.  threads: of one pass; ggml's
    barriers spin, so more than one thread is slower beside a busy process.  wordpiece: the core
    prepares text as BERT's tokenizer does, so llama.cpp must not.  only_tokenizer: leave the
    weights in the file and make no context.

    Raises: ModelError when llama.cpp refuses the file.
    """
    import llama_cpp as llama  # slow to import, and only needed here

    library: Any = llama.llama_cpp._lib
    _silence(llama)
    llama.llama_backend_init()

    model_params = llama.llama_model_default_params()
    # Repacked weights take the AMX path where the CPU reports AMX; a hypervisor may report it and
    # yet raise SIGILL on use.
    model_params.use_extra_bufts = _native.amx_is_safe()
    model_params.n_gpu_layers = 0
    model_params.vocab_only = only_tokenizer
    overrides = _own_text_preparation(llama) if wordpiece else None
    if overrides is not None:
        model_params.kv_overrides = overrides
    model = llama.llama_model_load_from_file(str(path).encode(), model_params)
    if not model:
        raise ModelError(f"{path}: llama.cpp cannot load this model file")

    handle = None if only_tokenizer else _context(llama, path, model, context, threads)
    batch = llama.llama_batch
    return _native.LlamaBinding(
        functions={name: _address(getattr(library, symbol)) for name, symbol in _FUNCTIONS.items()},
        model=_handle(model),
        context=None if handle is None else _handle(handle),
        batch_size=ctypes.sizeof(batch),
        batch_offsets=[getattr(batch, field).offset for field in _BATCH_FIELDS],
    )


def _context(llama: Any, path: Path, model: Any, context: int, threads: int) -> Any:
    params = llama.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = context
    params.n_seq_max = 1
    params.n_threads = params.n_threads_batch = threads
    params.embeddings = True
    params.pooling_type = _POOLING_NONE  # one pass gives token vectors; C pools them
    params.flash_attn_type = _FLASH_ATTENTION_DISABLED  # on a CPU it doubles the time of BERT
    handle = llama.llama_init_from_model(model, params)
    if not handle:
        llama.llama_model_free(model)
        raise ModelError(f"{path}: llama.cpp cannot make a context of {context} tokens")
    return handle


def _own_text_preparation(llama: Any) -> Any:
    """Switch llama.cpp's lower-casing and accent stripping off; keep the result until the load."""
    overrides = (llama.llama_model_kv_override * 3)()  # the last, empty one ends the list
    for entry, name in zip(overrides, ("lowercase", "strip_accents"), strict=False):
        entry.key = f"tokenizer.ggml.normalizer.{name}".encode()
        entry.tag = llama.LLAMA_KV_OVERRIDE_TYPE_BOOL
        entry.value.val_bool = False
    return overrides


def release(binding: _native.LlamaBinding) -> None:
    """Free what `load` made and C did not take."""
    import llama_cpp as llama

    if binding.context is not None:
        llama.llama_free(binding.context)
    llama.llama_model_free(binding.model)


def _address(pointer: Any) -> int:
    return int(ctypes.cast(pointer, ctypes.c_void_p).value or 0)


def _handle(pointer: Any) -> int:
    return pointer if isinstance(pointer, int) else _address(pointer)


def _ignore(level: int, text: bytes, user: int) -> None:
    """While loading, on this thread only; C puts a callback of its own in its place."""


_discard = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(_ignore)


def _silence(llama: Any) -> None:
    llama.llama_log_set(_discard, None)

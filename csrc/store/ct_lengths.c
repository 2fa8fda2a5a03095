#include "store/ct_lengths.h"

#include "base/ct_alloc.h"

_Atomic uint32_t *ct_length_of(ct_store *store, int64_t id) {
    if (id < 0 || id >= (int64_t)CT_LENGTH_BLOCKS * CT_LENGTH_BLOCK) return NULL;
    _Atomic(ct_length_block *) *place = &store->lengths[id / CT_LENGTH_BLOCK];
    ct_length_block *block = atomic_load_explicit(place, memory_order_acquire);
    if (!block) {
        ct_length_block *made = ct_alloc_zero(sizeof *made);
        if (!made) return NULL; /* slower, no worse */
        if (atomic_compare_exchange_strong(place, &block, made)) block = made;
        else ct_free(made);
    }
    return &block->words[id % CT_LENGTH_BLOCK];
}

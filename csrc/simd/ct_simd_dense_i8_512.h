/* Of what ct_simd_dense_i8.h needs, what every level with vectors of 512 bits has. */
#define ROWS 6
#define VEC __m512
#define WHOLE __m512i
#define LANES 16
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SET(x) _mm512_set1_ps(x)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SET_WHOLE(x) _mm512_set1_epi32(x)
#define TO_FLOAT(a) _mm512_cvtepi32_ps(a)

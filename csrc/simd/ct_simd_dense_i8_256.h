/* Of what ct_simd_dense_i8.h needs, what every level with vectors of 256 bits has. */
#define ROWS 3
#define VEC __m256
#define WHOLE __m256i
#define LANES 8
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SET(x) _mm256_set1_ps(x)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SET_WHOLE(x) _mm256_set1_epi32(x)
#define TO_FLOAT(a) _mm256_cvtepi32_ps(a)

/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that checked code may use of <math.h>, for a C parser. */
#ifndef MCUGEN_STUB_MATH_H
#define MCUGEN_STUB_MATH_H

#define INFINITY (1e39f)
#define NAN (INFINITY - INFINITY)
#define HUGE_VALF INFINITY
#define M_PI 3.14159265358979323846
#define isnan(x) ((x) != (x))
#define isinf(x) ((x) == INFINITY || (x) == -INFINITY)
#define isfinite(x) ((x) - (x) == 0)
#define signbit(x) ((x) < 0)

double acosh(double x);
float acoshf(float x);
double asin(double x);
float asinf(float x);
double acos(double x);
float acosf(float x);
double asinh(double x);
float asinhf(float x);
double atan(double x);
float atanf(float x);
double atanh(double x);
float atanhf(float x);
double cbrt(double x);
float cbrtf(float x);
double ceil(double x);
float ceilf(float x);
double cos(double x);
float cosf(float x);
double cosh(double x);
float coshf(float x);
double erf(double x);
float erff(float x);
double erfc(double x);
float erfcf(float x);
double exp(double x);
float expf(float x);
double exp2(double x);
float exp2f(float x);
double expm1(double x);
float expm1f(float x);
double fabs(double x);
float fabsf(float x);
double floor(double x);
float floorf(float x);
double lgamma(double x);
float lgammaf(float x);
double log(double x);
float logf(float x);
double log10(double x);
float log10f(float x);
double log1p(double x);
float log1pf(float x);
double log2(double x);
float log2f(float x);
double nearbyint(double x);
float nearbyintf(float x);
double rint(double x);
float rintf(float x);
double round(double x);
float roundf(float x);
double sin(double x);
float sinf(float x);
double sinh(double x);
float sinhf(float x);
double sqrt(double x);
float sqrtf(float x);
double tan(double x);
float tanf(float x);
double tanh(double x);
float tanhf(float x);
double tgamma(double x);
float tgammaf(float x);
double trunc(double x);
float truncf(float x);
double atan2(double x, double y);
float atan2f(float x, float y);
double copysign(double x, double y);
float copysignf(float x, float y);
double fmax(double x, double y);
float fmaxf(float x, float y);
double fmin(double x, double y);
float fminf(float x, float y);
double fmod(double x, double y);
float fmodf(float x, float y);
double hypot(double x, double y);
float hypotf(float x, float y);
double pow(double x, double y);
float powf(float x, float y);
double remainder(double x, double y);
float remainderf(float x, float y);
double fma(double x, double y, double z);
float fmaf(float x, float y, float z);
double ldexp(double x, int exponent);
float ldexpf(float x, int exponent);
double frexp(double x, int *exponent);
float frexpf(float x, int *exponent);
long lrint(double x);
long lrintf(float x);
long lround(double x);
long lroundf(float x);
long long llround(double x);
long long llroundf(float x);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/pairwise_coupling_f32.h"

#include <math.h>

#define MG_ROUNDS 100u

/* Computes the matrix of the quadratic form that the probabilities minimise; its diagonal is set to 0. */
static void form(const mg_f32 *in, mg_f32 *q, uint32_t classes)
{
    const mg_f32 *pair = in;
    for (uint32_t i = 0u; i < classes; i += 1u) {
        q[i * classes + i] = 0.0f;
    }
    for (uint32_t i = 0u; i < classes; i += 1u) {
        for (uint32_t j = i + 1u; j < classes; j += 1u) {
            const float first = *pair, second = 1.0f - *pair;
            q[i * classes + j] = -second * first;
            q[j * classes + i] = q[i * classes + j];
            pair += 1;
        }
    }
}

/* q[i][i] = sum over j = 0, 1, ... but i of r^2; r: probability of class j in the pair of classes i and j. */
static void diagonal(const mg_f32 *in, mg_f32 *q, uint32_t classes)
{
    for (uint32_t i = 0u; i < classes; i += 1u) {
        for (uint32_t j = 0u; j < classes; j += 1u) {
            const uint32_t low = i < j ? i : j, high = i < j ? j : i;
            const uint32_t at = low * (2u * classes - low - 1u) / 2u + high - low - 1u;
            if (i != j) {
                const float share = j < i ? in[at] : 1.0f - in[at];
                q[i * classes + i] += share * share;
            }
        }
    }
}

/* products = Q p; returns p Q p. */
static float multiply(const mg_f32 *q, const mg_f32 *p, mg_f32 *products, uint32_t classes)
{
    float total = 0.0f;
    for (uint32_t i = 0u; i < classes; i += 1u) {
        float sum = 0.0f;
        for (uint32_t j = 0u; j < classes; j += 1u) {
            sum += q[i * classes + j] * p[j];
        }
        products[i] = sum;
        total += p[i] * sum;
    }
    return total;
}

static void improve(const mg_f32 *q, mg_f32 *p, mg_f32 *products, float begin, uint32_t classes)
{
    float total = begin;
    for (uint32_t i = 0u; i < classes; i += 1u) {
        const float own = q[i * classes + i];
        const float step = (total - products[i]) / own;
        const float grown = 1.0f + step;
        p[i] += step;
        total = (total + step * (step * own + 2.0f * products[i])) / grown / grown;
        for (uint32_t j = 0u; j < classes; j += 1u) {
            products[j] = (products[j] + step * q[i * classes + j]) / grown;
            p[j] /= grown;
        }
    }
}

static void couple(const mg_f32 *in, mg_f32 *p, mg_f32 *q, uint32_t classes)
{
    mg_f32 *const products = q + classes * classes;
    const float near = 0.005f / (float)classes;
    form(in, q, classes);
    diagonal(in, q, classes);
    for (uint32_t i = 0u; i < classes; i += 1u) {
        p[i] = 1.0f / (float)classes;
    }
    for (uint32_t k = 0u; k < MG_ROUNDS; k += 1u) {
        const float total = multiply(q, p, products, classes);
        float furthest = 0.0f;
        for (uint32_t i = 0u; i < classes; i += 1u) {
            const float apart = fabsf(products[i] - total);
            furthest = apart > furthest ? apart : furthest;
        }
        if (furthest < near) {
            break;
        }
        improve(q, p, products, total, classes);
    }
}

void mg_pairwise_coupling_f32(const mg_pairwise_coupling_f32_params *p, const mg_f32 *in, mg_f32 *out, mg_f32 *scratch, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        couple(in + i * p->pairs, out + i * p->classes, scratch, p->classes);
    }
}

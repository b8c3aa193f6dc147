/* What an int8 kernel stores for a sum. rounding 0: twice, as convolutions; 1: once, halves away from zero. */
static inline int mg_stored(int sum, int mult, int shift, int rounding, int zero_point, int low, int high)
{
    int y;
    if (rounding == 0) {
        y = mg_requantize(sum, mult, shift);
    } else {
        const uint total = (uint)(31 - shift);
        y = (int)(((long)sum * mult + ((long)1 << (total - 1u)) - (long)(sum < 0)) >> total);
    }
    return mg_clamp((int)((uint)y + (uint)zero_point), low, high);
}

static inline char4 mg_stored4(int4 sum, int4 mult, int4 shift, int rounding, int zero_point, int low, int high)
{
    return (char4)(mg_stored(sum.x, mult.x, shift.x, rounding, zero_point, low, high),
                   mg_stored(sum.y, mult.y, shift.y, rounding, zero_point, low, high),
                   mg_stored(sum.z, mult.z, shift.z, rounding, zero_point, low, high),
                   mg_stored(sum.w, mult.w, shift.w, rounding, zero_point, low, high));
}

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

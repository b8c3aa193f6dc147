/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax over the last axis. A work-group computes one vector. Exponentials are not stored but computed twice.
 * HALF: 1: data and results are stored as half.
 */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void KERNEL(global const uchar *mem_in0, const uint at_in0, global uchar *mem_out, const uint at_out,
    const float beta, const int classes)
{
    local float parts[GROUP];
    const int id = get_local_id(0);
    global const MG_FLOAT *const x = MG_AT(const MG_FLOAT, in0) + get_group_id(0) * classes;
    global MG_FLOAT *const y = MG_AT(MG_FLOAT, out) + get_group_id(0) * classes;
    float largest = -INFINITY;
    for (int k = id; k < classes; k += GROUP) {
        largest = fmax(largest, MG_LOAD(x + k));
    }
    parts[id] = largest;
    for (int half_ = GROUP / 2; half_ > 0; half_ >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < half_) {
            parts[id] = fmax(parts[id], parts[id + half_]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    largest = parts[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = id; k < classes; k += GROUP) {
        sum += exp((MG_LOAD(x + k) - largest) * beta);
    }
    parts[id] = sum;
    for (int half_ = GROUP / 2; half_ > 0; half_ >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < half_) {
            parts[id] += parts[id + half_];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = parts[0];
    for (int k = id; k < classes; k += GROUP) {
        MG_STORE(exp((MG_LOAD(x + k) - largest) * beta) / sum, y + k);
    }
}

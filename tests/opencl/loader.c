/* SPDX-License-Identifier: Apache-2.0
 *
 * A library in front of OpenCL's loader that counts calls, and makes one fail.
 * MCUGEN_FAIL=N: the N-th call that may fail, from 1.
 * MCUGEN_OWN_MEMORY: devices report that they do not share the host's memory.
 * test_mark prints the calls since the last mark, one line for each function.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls, objects;
static int counts[8];
static const char *const names[8] = {"allocate", "argument", "copy", "map", "launch", "other", "made", "released"};
enum { ALLOCATE, ARGUMENT, COPY, MAP, LAUNCH, OTHER };

static int fails(int kind)
{
    const char *const which = getenv("MCUGEN_FAIL");
    counts[kind] += 1;
    calls += 1;
    return which != NULL && atoi(which) == calls;
}

void test_mark(const char *title)
{
    printf("%s:", title);
    for (int k = 0; k < 6; k += 1) {
        printf(" %s %d", names[k], counts[k]);
    }
    printf(" calls %d objects %d\n", calls, objects);
    memset(counts, 0, sizeof counts);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define MAKER(type, name, kind, args, names_) \
    type name args \
    { \
        if (fails(kind)) { \
            *error = CL_OUT_OF_RESOURCES; \
            return NULL; \
        } \
        type const made = REAL(name) names_; \
        objects += made != NULL; \
        return made; \
    }
#define CALL(name, kind, args, names_) \
    cl_int name args \
    { \
        return fails(kind) ? CL_OUT_OF_RESOURCES : REAL(name) names_; \
    }
#define RELEASE(name, type) \
    cl_int name(type object) \
    { \
        objects -= 1; \
        return REAL(name)(object); \
    }

MAKER(cl_context, clCreateContext, ALLOCATE,
      (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
       void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *error),
      (p, n, d, f, u, error))
MAKER(cl_command_queue, clCreateCommandQueue, ALLOCATE,
      (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *error), (c, d, p, error))
MAKER(cl_mem, clCreateBuffer, ALLOCATE, (cl_context c, cl_mem_flags f, size_t s, void *h, cl_int *error),
      (c, f, s, h, error))
MAKER(cl_program, clCreateProgramWithSource, ALLOCATE,
      (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *error), (c, n, s, l, error))
MAKER(cl_kernel, clCreateKernel, ALLOCATE, (cl_program p, const char *n, cl_int *error), (p, n, error))
CALL(clBuildProgram, OTHER,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *o, void(CL_CALLBACK *f)(cl_program, void *), void *u),
     (p, n, d, o, f, u))
CALL(clSetKernelArg, ARGUMENT, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v))
CALL(clEnqueueNDRangeKernel, LAUNCH,
     (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, cl_uint n,
      const cl_event *w, cl_event *e),
     (q, k, d, o, g, l, n, w, e))
CALL(clEnqueueReadBuffer, COPY,
     (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, cl_uint n, const cl_event *w, cl_event *e),
     (q, m, b, o, s, p, n, w, e))
CALL(clEnqueueWriteBuffer, COPY,
     (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, cl_uint n, const cl_event *w,
      cl_event *e),
     (q, m, b, o, s, p, n, w, e))
CALL(clEnqueueUnmapMemObject, MAP,
     (cl_command_queue q, cl_mem m, void *p, cl_uint n, const cl_event *w, cl_event *e), (q, m, p, n, w, e))

void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t s, cl_uint n,
                         const cl_event *w, cl_event *e, cl_int *error)
{
    if (fails(MAP)) {
        *error = CL_MAP_FAILURE;
        return NULL;
    }
    return REAL(clEnqueueMapBuffer)(q, m, b, f, o, s, n, w, e, error);
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const cl_int code = REAL(clGetDeviceInfo)(d, what, size, value, needed);
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && getenv("MCUGEN_OWN_MEMORY") != NULL && size == sizeof(cl_bool)) {
        memset(value, 0, size);
    }
    return code;
}

RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseCommandQueue, cl_command_queue)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)

/* Prints a line for each OpenCL device: platform, name, driver, compute units, clock in MHz, bytes of local memory, largest
 * work-group, bytes of memory, whether it shares memory with the host; with tabs between. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

enum { MOST = 16 };

static void print_device(cl_platform_id platform, cl_device_id device)
{
    char platform_name[256] = "", name[256] = "", driver[256] = "";
    cl_uint units = 0u, clock = 0u;
    cl_ulong local = 0u, memory = 0u;
    size_t group = 0u;
    cl_bool unified = CL_FALSE;
    (void)clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    (void)clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof clock, &clock, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    printf("%s\t%s\t%s\t%u\t%u\t%llu\t%zu\t%llu\t%d\n", platform_name, name, driver, units, clock,
           (unsigned long long)local, group, (unsigned long long)memory, unified == CL_TRUE);
}

int main(void)
{
    cl_platform_id platforms[MOST];
    cl_uint platform_count = 0u;
    if (clGetPlatformIDs(MOST, platforms, &platform_count) != CL_SUCCESS) {
        return 0;
    }
    for (cl_uint p = 0u; p < platform_count && p < MOST; p += 1u) {
        cl_device_id devices[MOST];
        cl_uint count = 0u;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS) {
            continue;
        }
        for (cl_uint d = 0u; d < count && d < MOST; d += 1u) {
            print_device(platforms[p], devices[d]);
        }
    }
    return 0;
}

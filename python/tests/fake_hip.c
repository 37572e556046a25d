/* A libamdhip64 that runs nothing and writes each call to the file that
   FAKE_HIP_LOG names, a line of words for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *next = (void *)0x10000;
static int current = 0;

static FILE *start(const char *name) {
  FILE *log = fopen(getenv("FAKE_HIP_LOG"), "a");
  fprintf(log, "%s", name);
  return log;
}
static int end(FILE *log) {
  fprintf(log, "\n");
  fclose(log);
  return 0;
}

int hipGetDevice(int *device) {
  *device = current;
  return end(start("hipGetDevice"));
}
int hipSetDevice(int device) {
  FILE *log = start("hipSetDevice");
  fprintf(log, " %d", device);
  current = device;
  return end(log);
}
int hipGetDeviceProperties(char *properties, int device) {
  const char *name = getenv("FAKE_HIP_CHIP");
  memset(properties, 0, 4096);
  strcpy(properties, "AMD Instinct");
  snprintf(properties + 1160, 64, "%s:sramecc+:xnack-", name ? name : "gfx950");
  return end(start("hipGetDeviceProperties"));
}
int hipModuleLoadData(void **module, const void *image) {
  FILE *log = start("hipModuleLoadData");
  fprintf(log, " %.3s", (const char *)image + 1);
  *module = next = (char *)next + 16;
  return end(log);
}
int hipModuleGetFunction(void **function, void *module, const char *name) {
  FILE *log = start("hipModuleGetFunction");
  fprintf(log, " %s", name);
  *function = next = (char *)next + 16;
  return end(log);
}
int hipMalloc(void **pointer, size_t size) {
  FILE *log = start("hipMalloc");
  fprintf(log, " %zu", size);
  *pointer = next = (char *)next + 0x1000000;
  return end(log);
}
int hipStreamIsCapturing(void *stream, int *status) {
  *status = ((size_t)stream & 0xFF) == 0xCA;
  return end(start("hipStreamIsCapturing"));
}
const char *hipGetErrorString(int status) {
  return status == 719 ? "unspecified launch failure" : "unknown";
}
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                          unsigned bx, unsigned by, unsigned bz, unsigned lds,
                          void *stream, void **params, void **extra) {
  FILE *log = start("hipModuleLaunchKernel");
  size_t size = *(size_t *)extra[3];
  const unsigned char *data = extra[1];
  fprintf(log, " %u,%u,%u %u,%u,%u %u %p %d%d%d ", gx, gy, gz, bx, by, bz, lds,
          stream, extra[0] == (void *)1, extra[2] == (void *)2,
          extra[4] == (void *)3 && !params);
  for (size_t i = 0; i < size; ++i)
    fprintf(log, "%02x", data[i]);
  end(log);
  return getenv("FAKE_HIP_FAIL") ? 719 : 0;
}
